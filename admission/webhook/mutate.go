package webhook

import (
	"context"
	"encoding/json"
	"fmt"

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

// Mutating is the step that asks mutating webhooks.
func (d *Dispatcher) Mutating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: mutatingStep, Admit: d.mutate}
}

// mutate asks the webhooks one after the other, each about what those before
// have made of the object.
func (d *Dispatcher) mutate(ctx context.Context, attributes *registry.Attributes) error {
	request, hooks, err := hooksFor(ctx, d.mutating, attributes)
	if err != nil || len(hooks) == 0 {
		return err
	}
	turn := reinvocation.Begin(mutatingStep, attributes)
	defer turn.End()
	for _, h := range hooks {
		target, err := h.wants(ctx, request)
		if err != nil {
			return err
		}
		if target == nil || !turn.Due(h.id) {
			continue
		}
		changed, err := d.change(ctx, h, request, target)
		if changed {
			turn.Changed()
		}
		if h.again {
			turn.Had(h.id)
		}
		if err := d.outcome(ctx, h, err); err != nil {
			return err
		}
	}
	return nil
}

// change asks a webhook, and does to the object what it says.
func (d *Dispatcher) change(ctx context.Context, h *hook, r *match.Request, target *match.Target) (bool, error) {
	q, err := newQuestion(r, target)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	said, err := d.ask(ctx, h, q)
	if err != nil || len(said.patch) == 0 {
		return false, err
	}
	patch, err := jsonpatch.DecodePatch(said.patch)
	switch {
	case err != nil:
		return false, h.failed("received undecodable patch in webhook response", err)
	case len(patch) == 0:
		return false, nil
	case q.object == nil:
		return false, apierrors.NewInternalError(fmt.Errorf(
			"admission webhook %q attempted to modify the object, which is not supported for this operation", h.name))
	case said.patchType != admissionv1.PatchTypeJSONPatch:
		return false, &callError{webhook: h.name, reason: fmt.Errorf("unsupported patch type %q", said.patchType)}
	}
	patched, changed, err := q.apply(patch)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if err := r.Replace(*target, patched); err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return changed, nil
}

// apply returns what a patch makes of the object, which remains what it is, and
// whether that is something else. JSON has no fractions of a second, but that
// the webhook did not change.
func (q *question) apply(patch jsonpatch.Patch) (patched runtime.Object, changed bool, err error) {
	before, err := json.Marshal(q.object)
	if err != nil {
		return nil, false, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, false, err
	}
	if patched, err = q.target.Decode(after); err != nil {
		return nil, false, err
	}
	return patched, !jsonpatch.Equal(before, after) && !equality.Semantic.DeepEqual(q.object, patched), nil
}
