package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// scaleTo returns the request of a patch of the scale of a Deployment.
func scaleTo(name string, replicas int32) registry.UpdateRequest {
	return withSubresource("scale", patch(&autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: registrytest.Namespace, Name: name}},
		func(s *autoscalingv1.Scale) { s.Spec.Replicas = replicas }))
}

func TestOnlySpecChangesRaiseTheGeneration(t *testing.T) {
	e := registrytest.New(t, nil)
	d := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	five := int32(5)
	for _, c := range []struct {
		rule string
		req  registry.UpdateRequest
		want int64
	}{
		{"a label does not raise it", patch(d, func(d *appsv1.Deployment) { d.Labels = map[string]string{"a": "b"} }), 1},
		{"a change of spec raises it", patch(d, func(d *appsv1.Deployment) { d.Spec.Replicas = &five }), 2},
		{"the same spec does not raise it", patch(d, func(d *appsv1.Deployment) { d.Spec.Replicas = &five }), 2},
		{"the status does not raise it", withSubresource("status", patch(d, func(d *appsv1.Deployment) { d.Status.Replicas = 5 })), 2},
		{"a client cannot set it", patch(d, func(d *appsv1.Deployment) { d.Generation = 40 }), 2},
		{"the scale raises it", scaleTo("d", 7), 3},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e := e.With(t)
			update[runtime.Object](e, "deployments.apps", c.req)
			if got := e.Get("deployments.apps", "x", "d").(*appsv1.Deployment).Generation; got != c.want {
				t.Errorf("generation %d, want %d", got, c.want)
			}
		})
	}
}

func TestSubresourcesChangeOnlyTheirPart(t *testing.T) {
	e := registrytest.New(t, nil)
	d := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	nine := int32(9)
	everything := func(d *appsv1.Deployment) {
		d.Labels = map[string]string{"a": "b"}
		d.Spec.Replicas = &nine
		d.Status.Replicas = 9
	}
	update[*appsv1.Deployment](e, "deployments.apps", withSubresource("status", patch(d, everything)))
	got := e.Get("deployments.apps", "x", "d").(*appsv1.Deployment)
	if got.Status.Replicas != 9 || *got.Spec.Replicas != 1 || got.Labels != nil {
		t.Errorf("after a write to status: status %d, spec %d, labels %v", got.Status.Replicas, *got.Spec.Replicas, got.Labels)
	}
	update[*appsv1.Deployment](e, "deployments.apps", patch(d, func(d *appsv1.Deployment) { everything(d); d.Status.Replicas = 1 }))
	got = e.Get("deployments.apps", "x", "d").(*appsv1.Deployment)
	if got.Status.Replicas != 9 || *got.Spec.Replicas != 9 || got.Labels["a"] != "b" {
		t.Errorf("after a write to the resource: status %d, spec %d, labels %v", got.Status.Replicas, *got.Spec.Replicas, got.Labels)
	}
}

func TestViews(t *testing.T) {
	env := registrytest.New(t, nil)
	env.Create("deployments.apps", registrytest.NewDeployment("d"))
	scale := func(e *registrytest.Env) *autoscalingv1.Scale {
		entry, err := e.Store("deployments.apps").GetSubresource(e.Context(), "x", "d", "scale")
		if err != nil {
			e.Fatal(err)
		}
		return registrytest.Object(entry).(*autoscalingv1.Scale)
	}
	t.Run("the result is the new view", func(t *testing.T) {
		e := env.With(t)
		got := update[*autoscalingv1.Scale](e, "deployments.apps", scaleTo("d", 4))
		stored := e.Get("deployments.apps", "x", "d").(*appsv1.Deployment)
		if got.Spec.Replicas != 4 || *stored.Spec.Replicas != 4 || got.ResourceVersion != stored.ResourceVersion {
			t.Errorf("view %v of %v", got, stored)
		}
	})
	t.Run("the resourceVersion of the view is checked", func(t *testing.T) {
		e := env.With(t)
		old := scale(e)
		update[*autoscalingv1.Scale](e, "deployments.apps", scaleTo("d", 5))
		_, err := e.Store("deployments.apps").Update(t.Context(), withSubresource("scale", put(old)))
		wantStatus(t, err, failureStatus(409, metav1.StatusReasonConflict,
			`Operation cannot be fulfilled on deployments.apps "d": `+staleMessage, detailsOf("apps", "deployments", "d")))
		old = old.DeepCopy()
		old.ResourceVersion = ""
		update[*autoscalingv1.Scale](e, "deployments.apps", withSubresource("scale", put(old)))
	})
	t.Run("a view of another object conflicts", func(t *testing.T) {
		e := env.With(t)
		other := scale(e).DeepCopy()
		other.UID = "7"
		_, err := e.Store("deployments.apps").Update(t.Context(), withSubresource("scale", put(other)))
		if want := "Precondition failed: UID in precondition: 7, UID in object meta: "; !apierrors.IsConflict(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a conflict: %s", err, want)
		}
	})
	t.Run("the view is validated", func(t *testing.T) {
		_, err := env.Store("deployments.apps").Update(t.Context(), scaleTo("d", -1))
		wantMessage(t, err, 422, `Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`)
	})
	t.Run("an absent object has no view", func(t *testing.T) {
		req := put(&autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "absent"}})
		req.ForceCreate = true
		_, err := env.Store("deployments.apps").Update(t.Context(), withSubresource("scale", req))
		wantMessage(t, err, 404, `deployments.apps "absent" not found`)
	})
}

func TestUpdateIsValidated(t *testing.T) {
	e := registrytest.New(t, nil)
	d := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	minus := int32(-1)
	_, err := e.Store("deployments.apps").Update(t.Context(), patch(d, func(d *appsv1.Deployment) {
		d.Spec.Replicas = &minus
		d.Labels = map[string]string{"a": "b c"}
	}))
	var causes []string
	for _, cause := range statusOf(t, err).Details.Causes {
		causes = append(causes, cause.Field)
	}
	if statusOf(t, err).Code != 422 || len(causes) != 3 || causes[0] != "metadata.labels" || causes[2] != "spec.replicas" {
		t.Errorf("got %v with causes %v", err, causes)
	}
}

func TestErrorsOfAProposalAreReturnedUnchanged(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	cause := errors.New("the patch cannot be applied")
	_, err := e.Store("configmaps").Update(t.Context(), registry.UpdateRequest{
		Namespace: "x", Name: "c",
		Propose: func(context.Context, runtime.Object) (runtime.Object, error) { return nil, cause },
	})
	if !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestUpdateDoesNotModifyTheProposal(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	entry, err := e.Store("configmaps").Get(t.Context(), "x", "c", "")
	if err != nil {
		t.Fatal(err)
	}
	shared := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "b"}}
	update[*corev1.ConfigMap](e, "configmaps", registry.UpdateRequest{
		Namespace: "x", Name: "c",
		Propose: func(context.Context, runtime.Object) (runtime.Object, error) { return shared, nil },
	})
	if shared.UID != "" || shared.Namespace != "" || shared.ResourceVersion != "" {
		t.Errorf("the store modified the proposed object: %v", shared.ObjectMeta)
	}
	if obj, _ := entry.Object(); obj.(*corev1.ConfigMap).Data != nil {
		t.Errorf("the store modified the stored entry: %v", obj)
	}
}

func TestPutRemovesDuplicateOwnersBeforeAdmission(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "1"}
	for _, tc := range []struct {
		sent runtime.Object
		when string
	}{
		{&metav1.UpdateOptions{}, ""},
		{&metav1.PatchOptions{}, " after mutating admission happens"},
	} {
		ctx, warnings := registry.WithWarnings(t.Context())
		result, err := e.Store("configmaps").Update(ctx, registry.UpdateRequest{
			Namespace: registrytest.Namespace, Name: "c", Options: registry.WriteOptions{Sent: tc.sent},
			Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
				changed := current.DeepCopyObject().(*corev1.ConfigMap)
				changed.OwnerReferences = []metav1.OwnerReference{owner, owner}
				return changed, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if refs := registrytest.Meta(registrytest.Object(result.Entry)).GetOwnerReferences(); len(refs) != 1 {
			t.Errorf("owners %v", refs)
		}
		want := ".metadata.ownerReferences contains duplicate entries" + tc.when + "; API server dedups"
		if got := warnings.List(); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("warnings %q, want %q", got, want)
		}
	}
}
