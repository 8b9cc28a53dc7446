package api

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// delete handles a DELETE of one object.
func (c *call) delete() error {
	options, err := c.deleteOptions()
	if err != nil {
		return err
	}
	if isUnsafe(options) {
		return c.unsafeDelete()
	}
	result, err := runWrite(c, func(ctx context.Context) (registry.DeleteResult, error) {
		return c.store.Delete(ctx, registry.DeleteRequest{
			Namespace: c.Namespace, Name: c.Name, Options: options, Version: c.version.Name,
		})
	})
	if err != nil {
		return err
	}
	c.syncCatalog()
	if result.Entry != nil {
		c.record.SetRevision(result.Entry.Revision)
	}
	if !result.ReturnObject {
		return c.respondStatus(http.StatusOK, c.deletedStatus(result.UID))
	}
	code := http.StatusOK
	//lint:ignore SA1019 clients still send it
	if orphan := options.OrphanDependents; !result.Removed && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	return c.respondEntry(code, result.Entry)
}

// deletedStatus returns the Status that names the removed object.
func (c *call) deletedStatus(uid types.UID) metav1.Status {
	return metav1.Status{
		Status:  metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: c.Name, Group: c.resource.Group, Kind: c.resource.Name, UID: uid},
	}
}

// deleteCollection handles a DELETE of a collection.
func (c *call) deleteCollection() error {
	list, err := c.listOptions()
	if err != nil {
		return err
	}
	options, err := c.deleteOptions()
	if err != nil {
		return err
	}
	if isUnsafe(options) {
		return unsafeConflict("is not allowed with DELETECOLLECTION, try again after removing the option")
	}
	request := registry.DeleteRequest{Namespace: c.Namespace, Options: options, Version: c.version.Name}
	page, err := runWrite(c, func(ctx context.Context) (*storage.Page, error) {
		return c.store.DeleteCollection(ctx, request, c.listRequest(list))
	})
	if err != nil {
		return err
	}
	return c.respondList(page)
}

// deleteOptions reads the options from the body, or from the query if there is no body.
func (c *call) deleteOptions() (*metav1.DeleteOptions, error) {
	data, err := c.readBody()
	if err != nil {
		return nil, err
	}
	options := &metav1.DeleteOptions{}
	if len(data) == 0 {
		err = decodeQuery(c.r, options)
	} else {
		err = c.decodeDeleteOptions(data, options)
	}
	if err != nil {
		return nil, err
	}
	if len(data) > 0 {
		c.auditDeleteOptions(options)
	}
	options.TypeMeta = metav1.TypeMeta{}
	if options.Preconditions != nil {
		c.setSentVersion(ptr.Deref(options.Preconditions.ResourceVersion, ""))
	}
	if err := invalidOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(options)); err != nil {
		return nil, err
	}
	if isUnsafe(options) && len(options.DryRun) > 0 {
		return nil, unsafeConflict("cannot be set together with .dryRun")
	}
	return options, nil
}

// optionsSerializer returns the serializer of options in a media type.
func optionsSerializer(mediaType string) runtime.Serializer {
	if mediaType == runtime.ContentTypeCBOR {
		return cbor.NewSerializer(internalscheme.Scheme, internalscheme.Scheme)
	}
	info, _ := runtime.SerializerInfoForMediaType(internalscheme.Codecs.SupportedMediaTypes(), mediaType)
	return info.Serializer
}

// decodeDeleteOptions decodes DeleteOptions of any group and version.
func (c *call) decodeDeleteOptions(data []byte, into *metav1.DeleteOptions) error {
	m, err := c.server.responder.ForContentType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	decoder := internalscheme.Codecs.DecoderToVersion(optionsSerializer(m.Type), metav1.SchemeGroupVersion)
	kind := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	obj, got, err := decoder.Decode(data, &kind, into)
	switch {
	case runtime.IsNotRegisteredError(err):
		return apierrors.NewBadRequest(runtime.NewNotRegisteredErrForKind(encoding.SchemeName, *got).Error())
	case err != nil:
		return apierrors.NewBadRequest(err.Error())
	case obj != into:
		return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return nil
}
