package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/openapi"
	"github.com/miniapi/miniapi/registry"
)

// patchType is an entry of the patch table.
type patchType struct {
	contentType types.PatchType
	// check returns a 400 for a malformed body. It comes before the lookup of the object.
	check func(data []byte) error
	// propose applies the patch to the current state, which is shared. Both states are in the hub
	// version.
	propose func(p *patch, ctx context.Context, current runtime.Object) (runtime.Object, error)
	// apply marks server-side apply, which creates a missing object and needs field managers.
	apply bool
	// goTypes marks a type that depends on the tags of Go types, which custom resources do not
	// have.
	goTypes bool
	// undocumented marks a type that the OpenAPI documents of custom resources do not contain.
	undocumented bool
}

// patchTypesOf returns the patch table. Each type has a file patch_<type>.go.
func patchTypesOf(config Config) []patchType {
	table := []patchType{
		{contentType: types.JSONPatchType, check: checkJSON, propose: proposePatched((*patch).applyJSON, (*patch).fieldsOfJSON)},
		{contentType: types.MergePatchType, check: checkJSON, propose: proposePatched((*patch).applyMerge, (*patch).fieldsOfMerge)},
		{contentType: types.StrategicMergePatchType, check: checkJSON, propose: proposePatched((*patch).applyStrategic, (*patch).fieldsOfStrategic), goTypes: true},
		{contentType: types.ApplyYAMLPatchType, check: checkYAML, propose: (*patch).applyYAML, apply: true},
	}
	if config.CBOR {
		table = append(table, patchType{
			contentType: types.ApplyCBORPatchType, check: checkCBOR, propose: (*patch).applyCBOR, apply: true, undocumented: true,
		})
	}
	return table
}

// openAPIPatchTypes returns the patch table for the OpenAPI documents.
func openAPIPatchTypes(patchTypes []patchType) []openapi.PatchType {
	var list []openapi.PatchType
	for _, t := range patchTypes {
		list = append(list, openapi.PatchType{ContentType: string(t.contentType), BuiltInOnly: t.goTypes || t.undocumented})
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
	if p.options, err = c.patchOptions(t.contentType); err != nil {
		return err
	}
	if err := t.check(p.data); err != nil {
		return err
	}
	c.recordPatch(p.data)
	c.auditPatch(t.contentType, p.data)
	if t.apply {
		c.writeVerb = "apply"
	}
	return c.write(registry.UpdateRequest{
		Namespace:   c.Namespace,
		Name:        c.Name,
		Subresource: c.Subresource,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			return t.propose(p, ctx, current)
		},
		ForceCreate: t.apply,
		Owned:       true,
		Applied:     t.apply,
		Options:     p.options.WriteOptions,
	})
}

// checkJSON returns a 400 for a body that is not JSON or nested too deep.
func checkJSON(data []byte) error {
	if err := encoding.CheckDepth(data); err != nil {
		return err
	}
	if !json.Valid(data) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// patchType returns the entry for the Content-Type of the request. For a type that the resource
// does not support, and for all types at custom resources, it returns a 415 that lists the
// supported types, otherwise the generic 415 of kube-apiserver.
func (c *call) patchType() (patchType, error) {
	contentType, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";")
	var supported []string
	known := false
	for _, t := range c.server.patchTypes {
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
	if known || c.resource.Custom {
		return patchType{}, encoding.UnsupportedMediaType(supported)
	}
	return patchType{}, encoding.GenericError(http.StatusUnsupportedMediaType, "415: Unsupported Media Type")
}

// supportsPatch reports whether the resource or subresource supports a patch type.
func (c *call) supportsPatch(t patchType) bool {
	return (!t.apply || c.store.Applies()) && (!t.goTypes || !c.resource.Custom)
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
// version. The result shares no memory with current.
func proposePatched(apply patchFunc, fields fieldsFunc) func(*patch, context.Context, runtime.Object) (runtime.Object, error) {
	return func(p *patch, _ context.Context, current runtime.Object) (runtime.Object, error) {
		converted, err := p.call.fromHub(current)
		if err != nil {
			return nil, err
		}
		if patched, ok := p.applyToFields(fields, converted); ok {
			return p.call.toHub(patched)
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

// changes decodes a merge patch. It returns strictErrs with the errors of duplicate fields, if they
// are validated.
func (p *patch) changes() (changes map[string]any, strictErrs []error, err error) {
	changes = map[string]any{}
	if p.validatesFields() {
		strictErrs, err = kjson.UnmarshalStrict(p.data, &changes)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(p.data, &changes)
	}
	return changes, strictErrs, err
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
	if err == nil && got.GroupVersion() == want.GroupVersion() {
		if err := encoding.CheckCustomKind(obj, want); err != nil {
			return nil, nil, err
		}
	}
	if err == nil && got != want {
		err = fmt.Errorf("unable to decode %v into %v", got, want)
	}
	if err != nil {
		return nil, nil, invalidPatch(string(document), err)
	}
	if obj.GetObjectKind().GroupVersionKind().Version == "" {
		unknown, err := unknownFields(document)
		if err != nil {
			return nil, nil, err
		}
		obj, strictErrs = p.call.newBody(), append(strictErrs, unknown...)
	}
	return obj, strictErrs, p.checkStrict(strictErrs, string(document))
}

// unknownFields returns the strict errors of a document without apiVersion. kube-apiserver decodes
// it into the internal type of a built-in kind, which has no JSON names. So the object is empty,
// and the missing name is an error.
func unknownFields(document []byte) ([]error, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(document, &fields); err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "apiVersion" && name != "kind" {
			errs = append(errs, fmt.Errorf("unknown field %q", name))
		}
	}
	return errs, nil
}
