package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/admission/reinvocation"
	"github.com/miniapi/miniapi/registry"
)

const mutatingStep = "MutatingAdmissionWebhook"

// Mutating returns the step that calls mutating webhooks.
func (d *Dispatcher) Mutating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: mutatingStep, Admit: d.mutate}
}

// mutate calls the webhooks one after the other. Each receives the object as the webhooks before
// it left it.
func (d *Dispatcher) mutate(ctx context.Context, attributes *registry.Attributes) error {
	request, hooks, err := d.hooksFor(ctx, d.mutating, attributes)
	if err != nil || len(hooks) == 0 {
		return err
	}
	reinvoke := reinvocation.Begin(mutatingStep, attributes)
	defer reinvoke.End()
	for _, h := range hooks {
		target, err := h.match(ctx, request)
		if err != nil {
			return err
		}
		if target == nil || !reinvoke.ShouldInvoke(h.id) {
			continue
		}
		started := time.Now()
		changed, err := d.callMutating(ctx, h, request, target)
		d.observe(h, attributes.Operation, time.Since(started), err)
		if changed {
			reinvoke.ObjectChanged()
		}
		if h.reinvocable {
			reinvoke.AddInvoked(h.id)
		}
		if err := d.outcome(ctx, h, err); err != nil {
			return err
		}
	}
	return nil
}

// callMutating calls a webhook and applies its patch to the object of the request. It reports
// whether the object changed.
func (d *Dispatcher) callMutating(ctx context.Context, h *hook, r *match.Request, target *match.Target) (bool, error) {
	review, err := newReview(r, target)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	response, err := d.call(ctx, h, review)
	if err != nil || len(response.patch) == 0 {
		return false, err
	}
	patch, err := jsonpatch.DecodePatch(response.patch)
	switch {
	case err != nil:
		return false, h.failed(http.StatusServiceUnavailable, "received undecodable patch in webhook response", err)
	case len(patch) == 0:
		return false, nil
	case review.object == nil:
		return false, apierrors.NewInternalError(fmt.Errorf(
			"admission webhook %q attempted to modify the object, which is not supported for this operation", h.name))
	case response.patchType != admissionv1.PatchTypeJSONPatch:
		return false, &callError{webhook: h.name, code: http.StatusBadRequest, reason: fmt.Errorf("unsupported patch type %q", response.patchType)}
	}
	patched, changed, err := review.apply(patch)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if err := r.Replace(*target, patched); err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return changed, nil
}

// apply returns a patched copy of the object, and whether the patch changed it. A loss of
// precision by the conversion to JSON, as of fractions of a second, does not count as a change.
func (v *review) apply(patch jsonpatch.Patch) (patched runtime.Object, changed bool, err error) {
	before, err := json.Marshal(v.object)
	if err != nil {
		return nil, false, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, false, err
	}
	if patched, err = v.target.Decode(after); err != nil {
		return nil, false, err
	}
	return patched, !jsonpatch.Equal(before, after) && !equality.Semantic.DeepEqual(v.object, patched), nil
}
