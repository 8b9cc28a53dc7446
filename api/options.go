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

// decodeQuery reads the options in a URL.
func decodeQuery(r *http.Request, into runtime.Object) error {
	err := internalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, into)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// invalidOptions is the 422 of faulty options; nil if there are no faults.
func invalidOptions(kind string, faults field.ErrorList) error {
	if len(faults) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", faults)
}

// unknownManager is a client that does not say who it is.
const unknownManager = "unknown"

// writeOptions are the options of a write, as the client sent them.
type writeOptions struct {
	registry.WriteOptions
	// validation is what becomes of unknown and duplicate fields.
	validation string
	// force takes fields from other managers, in an apply.
	force bool
}

func (c *call) writeOptions(dryRun []string, manager, validation string) writeOptions {
	if manager == "" {
		manager = cmp.Or(managerOf(c.r.UserAgent()), unknownManager)
	}
	if validation == "" {
		validation = metav1.FieldValidationWarn
	}
	return writeOptions{
		WriteOptions: registry.WriteOptions{DryRun: len(dryRun) > 0, FieldManager: manager, Version: c.version.Name},
		validation:   validation,
	}
}

// managerOf makes a field manager's name of a User-Agent: what stands before
// the first slash, as far as it is printable and fits.
func managerOf(userAgent string) string {
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

// listOptions reads the options of a list, of a watch, or of the deletion of a
// collection.
func (c *call) listOptions() (internalversion.ListOptions, error) {
	var o internalversion.ListOptions
	if err := decodeQuery(c.r, &o); err != nil {
		return o, err
	}
	// As in kube-apiserver the parameter decides which rules hold, not the verb: a
	// path that begins with /watch/ has the rules and defaults of a list.
	internalversion.SetListOptionsDefaults(&o, true)
	if err := invalidOptions("ListOptions", internalvalidation.ValidateListOptions(&o, true)); err != nil {
		return o, err
	}
	return o, c.translateFields(&o)
}

// translateFields brings the field selector from the version asked for to the
// hub's names, and adds the name in the path of a legacy watch.
func (c *call) translateFields(o *internalversion.ListOptions) error {
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

// listRequest is what the registry is asked for.
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
