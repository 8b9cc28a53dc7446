package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/openapi"
	"github.com/miniapi/miniapi/registry"
)

// patchType is an entry of the patch table.
type patchType struct {
	contentType types.PatchType
	// propose applies the patch to the current state, which is shared. Both states are in the hub
	// version.
	propose func(p *patch, ctx context.Context, current runtime.Object) (runtime.Object, error)
	// apply marks server-side apply, which creates a missing object and needs field managers.
	apply bool
	// goTypes marks a type that depends on the tags of Go types, which custom resources do not
	// have.
	goTypes bool
}

// patchTypes is the patch table. Each type has a file patch_<type>.go.
var patchTypes = []patchType{
	{contentType: types.JSONPatchType, propose: proposePatched((*patch).applyJSON)},
	{contentType: types.MergePatchType, propose: proposePatched((*patch).applyMerge)},
	{contentType: types.StrategicMergePatchType, propose: proposePatched((*patch).applyStrategic), goTypes: true},
	{contentType: types.ApplyYAMLPatchType, propose: (*patch).applyConfiguration, apply: true},
}

// openAPIPatchTypes returns the patch table for the OpenAPI documents.
func openAPIPatchTypes() []openapi.PatchType {
	var list []openapi.PatchType
	for _, t := range patchTypes {
		list = append(list, openapi.PatchType{ContentType: string(t.contentType), BuiltInOnly: t.goTypes})
	}
	return list
}

// patch is the patch of a request.
type patch struct {
	call    *call
	data    []byte
	options writeOptions
}

// patch handles a PATCH. A patch with a resourceVersion applies to that version only. Any other
// patch applies to the latest state, and is repeated after a conflicting write.
func (c *call) patch() error {
	t, err := c.patchType()
	if err != nil {
		return err
	}
	p := &patch{call: c}
	if p.data, err = c.readBody(); err != nil {
		return err
	}
	if err := encoding.CheckDepth(p.data); err != nil {
		return err
	}
	if err := t.checkSyntax(p.data); err != nil {
		return err
	}
	c.recordPatch(p.data)
	if t.apply {
		c.writeVerb = "apply"
	}
	if p.options, err = c.patchOptions(t.contentType); err != nil {
		return err
	}
	return c.write(registry.UpdateRequest{
		Namespace:   c.Namespace,
		Name:        c.Name,
		Subresource: c.Subresource,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			return t.propose(p, ctx, current)
		},
		ForceCreate: t.apply,
		Applied:     t.apply,
		Options:     p.options.WriteOptions,
	})
}

// checkSyntax returns a 400 for a body that is not JSON, or for server-side apply not YAML. It
// comes before the lookup of the object.
func (t patchType) checkSyntax(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	if !t.apply {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	if _, err := yaml.YAMLToJSON(data); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	return nil
}

// patchType returns the entry for the Content-Type of the request. For a type that the resource
// does not support it returns a 415 that lists the supported types, for an unknown type the
// generic 415 of kube-apiserver.
func (c *call) patchType() (patchType, error) {
	contentType, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";")
	var supported []string
	known := false
	for _, t := range patchTypes {
		matches := string(t.contentType) == contentType
		known = known || matches
		if !c.supportsPatch(t) {
			continue
		}
		if matches {
			return t, nil
		}
		supported = append(supported, string(t.contentType))
	}
	if known {
		return patchType{}, encoding.UnsupportedMediaType(supported)
	}
	return patchType{}, encoding.GenericError(http.StatusUnsupportedMediaType, "415: Unsupported Media Type")
}

// supportsPatch reports whether the resource or subresource supports a patch type.
func (c *call) supportsPatch(t patchType) bool {
	hasGoType := !c.resource.Custom || !c.resourceKind()
	return (!t.apply || c.store.Applies()) && (!t.goTypes || hasGoType)
}

func (c *call) patchOptions(t types.PatchType) (writeOptions, error) {
	var o metav1.PatchOptions
	if err := decodeQuery(c.r, &o); err != nil {
		return writeOptions{}, err
	}
	options := c.writeOptions(o.DryRun, o.FieldManager, o.FieldValidation)
	options.force = o.Force != nil && *o.Force
	options.Sent = &o
	return options, invalidOptions("PatchOptions", metav1validation.ValidatePatchOptions(&o, t))
}

// patchFunc applies a patch to current, a shared object of the requested version. strictErrs are
// the errors of unknown and duplicate fields.
type patchFunc func(p *patch, current runtime.Object) (patched runtime.Object, strictErrs []error, err error)

// proposePatched returns the propose function of a patchFunc: it converts from and to the hub
// version.
func proposePatched(apply patchFunc) func(*patch, context.Context, runtime.Object) (runtime.Object, error) {
	return func(p *patch, _ context.Context, current runtime.Object) (runtime.Object, error) {
		converted, err := p.call.fromHub(current)
		if err != nil {
			return nil, err
		}
		patched, strictErrs, err := apply(p, converted)
		if err != nil {
			return nil, err
		}
		if p.options.fieldValidation == metav1.FieldValidationWarn {
			p.call.warnOfFields(strictErrs)
		}
		registry.ClearKind(patched)
		return p.call.toHub(patched)
	}
}

// validatesFields reports whether unknown and duplicate fields are errors or warnings.
func (p *patch) validatesFields() bool {
	return p.options.fieldValidation != metav1.FieldValidationIgnore
}

// checkStrict returns a 422 if there are strict errors and field validation is Strict. value is the
// invalid value in its text.
func (p *patch) checkStrict(strictErrs []error, value string) error {
	if len(strictErrs) == 0 || p.options.fieldValidation != metav1.FieldValidationStrict {
		return nil
	}
	return invalidPatch(value, runtime.NewStrictDecodingError(strictErrs))
}

// invalidPatch returns the 422 for a patch whose result is not a valid object.
func invalidPatch(value string, err error) error {
	fieldError := field.Invalid(field.NewPath("patch"), value, err.Error())
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{fieldError})
}

// decodePatched decodes a patched document into an object of the requested version. It returns
// strictErrs with the strict errors of the document.
func (p *patch) decodePatched(document []byte, strictErrs []error) (runtime.Object, []error, error) {
	want := p.call.kind()
	obj, got, err := p.call.server.responder.JSON().Decode(document, p.call.decodeOptions(p.options.fieldValidation))
	if strict, ok := runtime.AsStrictDecodingError(err); ok && obj != nil {
		strictErrs, err = append(strictErrs, strict.Errors()...), nil
	}
	if err == nil && got != want {
		err = fmt.Errorf("unable to decode %v into %v", got, want)
	}
	if err != nil {
		return nil, nil, invalidPatch(string(document), err)
	}
	return obj, strictErrs, p.checkStrict(strictErrs, string(document))
}
