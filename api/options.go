package api

import (
	"cmp"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	internalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

// decodeQuery decodes the query of a request into an options object.
func decodeQuery(r *http.Request, into runtime.Object) error {
	err := internalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, into)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// invalidOptions returns the 422 of invalid options, nil if errs is empty.
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// unknownManager is the field manager of a client without a User-Agent.
const unknownManager = "unknown"

// writeOptions holds the options of a write.
type writeOptions struct {
	registry.WriteOptions
	// fieldValidation is Ignore, Warn or Strict.
	fieldValidation string
	// force makes a server-side apply take ownership of conflicting fields.
	force bool
}

func (c *call) writeOptions(dryRun []string, manager, fieldValidation string) writeOptions {
	if manager == "" {
		manager = cmp.Or(managerFromUserAgent(c.r.UserAgent()), unknownManager)
	}
	if fieldValidation == "" {
		fieldValidation = metav1.FieldValidationWarn
	}
	c.manager = manager
	return writeOptions{
		WriteOptions:    registry.WriteOptions{DryRun: len(dryRun) > 0, FieldManager: manager, Version: c.version.Name},
		fieldValidation: fieldValidation,
	}
}

// managerFromUserAgent returns the default field manager: the printable characters of the
// User-Agent before the first slash, up to the maximum length.
func managerFromUserAgent(userAgent string) string {
	product, _, _ := strings.Cut(userAgent, "/")
	var name strings.Builder
	for _, r := range product {
		if !unicode.IsPrint(r) {
			continue
		}
		if name.Len()+utf8.RuneLen(r) > metav1validation.FieldManagerMaxLength {
			break
		}
		name.WriteRune(r)
	}
	return name.String()
}

func (c *call) createOptions() (writeOptions, error) {
	var o metav1.CreateOptions
	if err := decodeQuery(c.r, &o); err != nil {
		return writeOptions{}, err
	}
	err := invalidOptions("CreateOptions", metav1validation.ValidateCreateOptions(&o))
	options := c.writeOptions(o.DryRun, o.FieldManager, o.FieldValidation)
	options.Sent = &o
	return options, err
}

func (c *call) updateOptions() (writeOptions, error) {
	var o metav1.UpdateOptions
	if err := decodeQuery(c.r, &o); err != nil {
		return writeOptions{}, err
	}
	err := invalidOptions("UpdateOptions", metav1validation.ValidateUpdateOptions(&o))
	options := c.writeOptions(o.DryRun, o.FieldManager, o.FieldValidation)
	options.Sent = &o
	return options, err
}

// listOptions reads the options of a list, a watch or a deletecollection.
func (c *call) listOptions() (internalversion.ListOptions, error) {
	var o internalversion.ListOptions
	if err := decodeQuery(c.r, &o); err != nil {
		return o, err
	}
	// As in kube-apiserver, defaults and validation depend on the watch parameter, not on the verb:
	// a path that begins with /watch/ has the defaults of a list.
	internalversion.SetListOptionsDefaults(&o, true)
	if err := invalidOptions("ListOptions", internalvalidation.ValidateListOptions(&o, true)); err != nil {
		return o, err
	}
	c.record.SetResourceVersion(o.ResourceVersion)
	return o, c.convertFieldSelector(&o)
}

// convertFieldSelector converts the field selector from the requested version to the hub version,
// and adds the name in the path of a legacy watch.
func (c *call) convertFieldSelector(o *internalversion.ListOptions) error {
	if o.FieldSelector != nil {
		selector, err := o.FieldSelector.Transform(c.fieldLabel)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		o.FieldSelector = selector
	}
	if c.Name == "" {
		return nil
	}
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		if name, ok := o.FieldSelector.RequiresExactMatch("metadata.name"); !ok || name != c.Name {
			return apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
		}
		return nil
	}
	o.FieldSelector = fields.OneTermEqualSelector("metadata.name", c.Name)
	return nil
}

func (c *call) fieldLabel(label, value string) (hubLabel, hubValue string, err error) {
	if c.version.FieldLabel != nil {
		return c.version.FieldLabel(label, value)
	}
	return runtime.DefaultMetaV1FieldSelectorConversion(label, value)
}

// listRequest returns the registry's request for the options of a list.
func (c *call) listRequest(o internalversion.ListOptions) registry.ListRequest {
	return registry.ListRequest{
		Namespace:            c.Namespace,
		Label:                o.LabelSelector,
		Field:                o.FieldSelector,
		ResourceVersion:      o.ResourceVersion,
		ResourceVersionMatch: o.ResourceVersionMatch,
		Limit:                o.Limit,
		Continue:             o.Continue,
		SendInitialEvents:    o.SendInitialEvents,
		AllowWatchBookmarks:  o.AllowWatchBookmarks,
	}
}
