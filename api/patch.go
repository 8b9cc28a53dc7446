package api

import (
	"context"
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

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// patchType is one kind of patch: a row of the patch table.
type patchType struct {
	contentType types.PatchType
	// propose returns what the patch makes of the current state, which it must
	// not write to, both in the hub version.
	propose func(p *patch, ctx context.Context, current runtime.Object) (runtime.Object, error)
}

// patchTypes are the patches that are understood.
var patchTypes = []patchType{
	{types.JSONPatchType, edit((*patch).applyJSON)},
	{types.MergePatchType, edit((*patch).applyMerge)},
	{types.StrategicMergePatchType, edit((*patch).applyStrategic)},
	{types.ApplyYAMLPatchType, (*patch).applyConfiguration},
}

// patch is a patch that a client sent.
type patch struct {
	call    *call
	data    []byte
	options writeOptions
}

// patch answers a PATCH. The patch is applied to the latest state, again and
// again if others write at the same time, unless it carries a resourceVersion:
// then it applies to that version or not at all.
func (c *call) patch() error {
	kind, err := c.patchType()
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
	if p.options, err = c.patchOptions(kind.contentType); err != nil {
		return err
	}
	applies := kind.contentType == types.ApplyYAMLPatchType
	return c.write(registry.UpdateRequest{
		Namespace:   c.Namespace,
		Name:        c.Name,
		Subresource: c.Subresource,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			return kind.propose(p, ctx, current)
		},
		ForceCreate: applies,
		Applied:     applies,
		Options:     p.options.WriteOptions,
	})
}

// patchType finds the kind of patch by the Content-Type. Where nothing can be
// applied, it answers what kube-apiserver answers for kinds that do not support a
// type of patch; other types never get as far there, and neither do they here.
func (c *call) patchType() (patchType, error) {
	contentType, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";")
	var supported []string
	known := false
	for _, t := range patchTypes {
		asked := string(t.contentType) == contentType
		known = known || asked
		if !c.understands(t.contentType) {
			continue
		}
		if asked {
			return t, nil
		}
		supported = append(supported, string(t.contentType))
	}
	if known {
		return patchType{}, encoding.UnsupportedMediaType(supported)
	}
	return patchType{}, encoding.GenericError(http.StatusUnsupportedMediaType, "415: Unsupported Media Type")
}

// understands tells whether a type of patch is for the resource: how lists are
// merged strategically is written in Go types, which custom resources have not.
func (c *call) understands(t types.PatchType) bool {
	switch t {
	case types.ApplyYAMLPatchType:
		return c.store.Applies()
	case types.StrategicMergePatchType:
		return !c.resource.Custom || !c.resourceKind()
	}
	return true
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

// editor returns what a patch makes of current, an object of the version asked
// for which it must not write to, and what was odd about the patch's fields.
type editor func(p *patch, current runtime.Object) (runtime.Object, []error, error)

// edit is the propose of a patch that says how a document changes.
func edit(apply editor) func(*patch, context.Context, runtime.Object) (runtime.Object, error) {
	return func(p *patch, _ context.Context, current runtime.Object) (runtime.Object, error) {
		shown, err := p.call.fromHub(current)
		if err != nil {
			return nil, err
		}
		patched, odd, err := apply(p, shown)
		if err != nil {
			return nil, err
		}
		if p.options.validation == metav1.FieldValidationWarn {
			p.call.warnOfFields(odd)
		}
		registry.ClearKind(patched)
		return p.call.toHub(patched)
	}
}

// strict tells whether anybody wants to know about odd fields.
func (p *patch) strict() bool { return p.options.validation != metav1.FieldValidationIgnore }

// refuseOdd is the 422 for odd fields where they are not allowed; text is what
// was wrong with them.
func (p *patch) refuseOdd(odd []error, text string) error {
	if len(odd) == 0 || p.options.validation != metav1.FieldValidationStrict {
		return nil
	}
	return invalidPatch(text, runtime.NewStrictDecodingError(odd))
}

// invalidPatch is the 422 for a patch that does not lead to an object.
func invalidPatch(shown string, err error) error {
	fault := field.Invalid(field.NewPath("patch"), shown, err.Error())
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{fault})
}

// decodePatched turns a patched document into an object of the version asked
// for. odd is what was odd about the patch; more may be found here.
func (p *patch) decodePatched(document []byte, odd []error) (runtime.Object, []error, error) {
	want := p.call.kind()
	obj, got, err := p.call.server.responder.JSON().Decode(document, p.call.decodeOptions(p.options.validation))
	if strict, ok := runtime.AsStrictDecodingError(err); ok && obj != nil {
		odd, err = append(odd, strict.Errors()...), nil
	}
	if err == nil && got != want {
		err = fmt.Errorf("unable to decode %v into %v", got, want)
	}
	if err != nil {
		return nil, nil, invalidPatch(string(document), err)
	}
	return obj, odd, p.refuseOdd(odd, string(document))
}
