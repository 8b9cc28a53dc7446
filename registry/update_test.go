package registry_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

const staleMessage = "the object has been modified; please apply your changes to the latest version and try again"

// put returns the request of a PUT of obj.
func put(obj runtime.Object) registry.UpdateRequest {
	m := registrytest.Meta(obj)
	return registry.UpdateRequest{
		Namespace:      m.GetNamespace(),
		Name:           m.GetName(),
		UID:            m.GetUID(),
		Propose:        func(context.Context, runtime.Object) (runtime.Object, error) { return obj, nil },
		CreateIfAbsent: true,
	}
}

// patch returns the request of a PATCH of obj: change modifies a copy of the stored object.
func patch[T runtime.Object](obj T, change func(T)) registry.UpdateRequest {
	m := registrytest.Meta(obj)
	return registry.UpdateRequest{
		Namespace: m.GetNamespace(),
		Name:      m.GetName(),
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			return registrytest.Change(current.(T), change), nil
		},
	}
}

func withSubresource(subresource string, req registry.UpdateRequest) registry.UpdateRequest {
	req.Subresource = subresource
	return req
}

func withDryRun(req registry.UpdateRequest) registry.UpdateRequest {
	req.Options.DryRun = true
	return req
}

// update executes a request and fails the test on an error.
func update[T runtime.Object](e *registrytest.Env, resource string, req registry.UpdateRequest) T {
	e.Helper()
	result, err := e.Store(resource).Update(e.Context(), req)
	if err != nil {
		e.Fatal(err)
	}
	return registrytest.Object(result.Entry).(T)
}

func TestUpdateVersion(t *testing.T) {
	env := registrytest.New(t, nil)
	for i, c := range []struct {
		rule, version, want string
		code                int32
	}{
		{rule: "the stored version is updated", version: "stored"},
		{rule: "no version applies to the latest"},
		{rule: "version 0 is no version", version: "0"},
		{rule: "an older version conflicts", version: "1", code: 409, want: `Operation cannot be fulfilled on deployments.apps "%s": ` + staleMessage},
		{rule: "a future version conflicts", version: "99999999999", code: 409, want: `Operation cannot be fulfilled on deployments.apps "%s": ` + staleMessage},
		{
			rule: "an invalid version is a bad request", version: "abc", code: 400,
			want: `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e := env.With(t)
			name := fmt.Sprintf("d%d", i)
			obj := e.Create("deployments.apps", registrytest.NewDeployment(name)).DeepCopyObject().(*appsv1.Deployment)
			obj.Labels = map[string]string{"a": "b"}
			if c.version != "stored" {
				obj.ResourceVersion = c.version
			}
			_, err := e.Store("deployments.apps").Update(e.Context(), put(obj))
			stored := e.Get("deployments.apps", registrytest.Namespace, name).(*appsv1.Deployment)
			if c.code == 0 {
				if err != nil || stored.Labels["a"] != "b" {
					t.Fatalf("error %v, labels %v", err, stored.Labels)
				}
				return
			}
			message := c.want
			if c.code == 409 {
				message = fmt.Sprintf(c.want, name)
			}
			wantMessage(t, err, c.code, message)
			if stored.Labels != nil {
				t.Errorf("a rejected update was written: %v", stored.Labels)
			}
		})
	}
}

func TestUpdateConflictNamesResource(t *testing.T) {
	e := registrytest.New(t, nil)
	obj := e.Create("deployments.apps", registrytest.NewDeployment("demo")).(*appsv1.Deployment)
	update[*appsv1.Deployment](e, "deployments.apps", patch(obj, func(d *appsv1.Deployment) { d.Labels = map[string]string{"a": "b"} }))
	_, err := e.Store("deployments.apps").Update(t.Context(), put(obj))
	wantStatus(t, err, failureStatus(409, metav1.StatusReasonConflict,
		`Operation cannot be fulfilled on deployments.apps "demo": `+staleMessage, detailsOf("apps", "deployments", "demo")))
}

func TestUpdateWithoutARequiredVersionIsInvalid(t *testing.T) {
	e := registrytest.New(t, nil)
	lease := e.Create("leases.coordination.k8s.io", registrytest.NewLease("l")).DeepCopyObject().(*coordinationv1.Lease)
	lease.ResourceVersion = ""
	_, err := e.Store("leases.coordination.k8s.io").Update(t.Context(), put(lease))
	details := detailsOf("coordination.k8s.io", "leases", "l")
	details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeFieldValueInvalid, Message: "Invalid value: 0: must be specified for an update", Field: "metadata.resourceVersion",
	}}
	wantStatus(t, err, failureStatus(422, metav1.StatusReasonInvalid,
		`leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`, details))
}

func TestUpdateWithADifferentUIDConflicts(t *testing.T) {
	e := registrytest.New(t, nil)
	obj := e.Create("configmaps", registrytest.NewConfigMap("n1")).DeepCopyObject().(*corev1.ConfigMap)
	stored := obj.UID
	obj.UID = "11111111-1111-4111-8111-111111111111"
	_, err := e.Store("configmaps").Update(t.Context(), put(obj))
	wantStatus(t, err, failureStatus(409, metav1.StatusReasonConflict,
		`Operation cannot be fulfilled on configmaps "n1": StorageError: invalid object, Code: 4, Key: /registry/configmaps/x/n1, ResourceVersion: 0, `+
			`AdditionalErrorMsg: Precondition failed: UID in precondition: 11111111-1111-4111-8111-111111111111, UID in object meta: `+string(stored),
		detailsOf("", "configmaps", "n1")))
}

// Controllers patch with a uid so that they do not change a recreated object. They depend on the
// reason Invalid.
func TestPatchWithADifferentUIDIsInvalid(t *testing.T) {
	e := registrytest.New(t, nil)
	obj := e.Create("configmaps", registrytest.NewConfigMap("n1")).(*corev1.ConfigMap)
	_, err := e.Store("configmaps").Update(t.Context(), patch(obj, func(c *corev1.ConfigMap) { c.UID = "8" }))
	details := detailsOf("", "ConfigMap", "n1")
	details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeFieldValueInvalid, Message: `Invalid value: "8": field is immutable`, Field: "metadata.uid",
	}}
	wantStatus(t, err, failureStatus(422, metav1.StatusReasonInvalid,
		`ConfigMap "n1" is invalid: metadata.uid: Invalid value: "8": field is immutable`, details))
}

func TestUnchangedUpdateWritesNothing(t *testing.T) {
	e := registrytest.New(t, nil)
	obj := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	before := e.Revision()
	for _, req := range []registry.UpdateRequest{
		put(obj),
		patch(obj, func(*appsv1.Deployment) {}),
		withSubresource("status", put(obj)),
		withSubresource("scale", registry.UpdateRequest{
			Namespace: obj.Namespace, Name: obj.Name,
			Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) { return current, nil },
		}),
	} {
		result, err := e.Store("deployments.apps").Update(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := registrytest.Meta(registrytest.Object(result.Entry)).GetResourceVersion(); got != obj.ResourceVersion {
			t.Errorf("subresource %q: version %s, want %s", req.Subresource, got, obj.ResourceVersion)
		}
	}
	if after := e.Revision(); after != before {
		t.Errorf("the revision of etcd changed from %d to %d", before, after)
	}
}

func TestUpdateOfAnAbsentObject(t *testing.T) {
	e := registrytest.New(t, nil)
	notFound := failureStatus(404, metav1.StatusReasonNotFound, `configmaps "absent" not found`, detailsOf("", "configmaps", "absent"))
	withUID := registrytest.NewConfigMap("absent")
	withUID.UID = "8"
	withVersion := registrytest.NewConfigMap("absent")
	withVersion.ResourceVersion = "5"
	for rule, req := range map[string]registry.UpdateRequest{
		"a PUT is a 404 if the kind does not create on update": put(registrytest.NewConfigMap("absent")),
		"a PUT with a version is a 404":                        put(withVersion),
		"a PUT with a uid is a 404":                            put(withUID),
		"a PATCH is a 404":                                     patch(registrytest.NewConfigMap("absent"), func(*corev1.ConfigMap) {}),
	} {
		t.Run(rule, func(t *testing.T) {
			_, err := e.Store("configmaps").Update(t.Context(), req)
			wantStatus(t, err, notFound)
		})
	}
	t.Run("a PATCH is a 404 if the kind creates on update", func(t *testing.T) {
		_, err := e.Store("leases.coordination.k8s.io").Update(t.Context(), patch(registrytest.NewLease("absent"), func(*coordinationv1.Lease) {}))
		wantMessage(t, err, 404, `leases.coordination.k8s.io "absent" not found`)
	})
	t.Run("an apply with a uid conflicts", func(t *testing.T) {
		req := put(withUID)
		req.CreateIfAbsent, req.ForceCreate = false, true
		_, err := e.Store("configmaps").Update(t.Context(), req)
		wantStatus(t, err, failureStatus(409, metav1.StatusReasonConflict,
			`Operation cannot be fulfilled on configmaps "absent": uid mismatch: the provided object specified uid 8, and no existing object was found`,
			detailsOf("", "configmaps", "absent")))
	})
}

func TestUpdateCreates(t *testing.T) {
	e := registrytest.New(t, nil)
	apply := put(registrytest.NewConfigMap("applied"))
	apply.CreateIfAbsent, apply.ForceCreate = false, true
	for rule, c := range map[string]struct {
		resource string
		req      registry.UpdateRequest
	}{
		"the kind allows it":    {"leases.coordination.k8s.io", put(registrytest.NewLease("new"))},
		"the request forces it": {"configmaps", apply},
	} {
		t.Run(rule, func(t *testing.T) {
			result, err := e.Store(c.resource).Update(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			m := registrytest.Meta(registrytest.Object(result.Entry))
			if !result.Created || m.GetUID() == "" || m.GetCreationTimestamp() == (metav1.Time{}) || m.GetResourceVersion() == "" {
				t.Errorf("created %v, metadata %v", result.Created, m)
			}
			second, err := e.Store(c.resource).Update(t.Context(), repeat(c.req, registrytest.Object(result.Entry)))
			if err != nil || second.Created {
				t.Errorf("second update: created %v, error %v", second.Created, err)
			}
		})
	}
}

func TestUpdateCreatesNothingWithAMalformedVersion(t *testing.T) {
	e := registrytest.New(t, nil)
	lease := registrytest.NewLease("new")
	lease.ResourceVersion = "abc"
	_, err := e.Store("leases.coordination.k8s.io").Update(t.Context(), put(lease))
	wantMessage(t, err, 400, `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`)
	lease.ResourceVersion = "99999999999"
	if created := update[*coordinationv1.Lease](e, "leases.coordination.k8s.io", put(lease)); created.ResourceVersion == lease.ResourceVersion {
		t.Error("the resourceVersion of a new object was kept")
	}
}

// repeat returns req with obj, the result of its first execution, as the proposal.
func repeat(req registry.UpdateRequest, obj runtime.Object) registry.UpdateRequest {
	req.Propose = func(context.Context, runtime.Object) (runtime.Object, error) { return obj, nil }
	return req
}

func TestUpdateNames(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("configmaps", registrytest.NewConfigMap("n1"))
	for _, c := range []struct {
		rule            string
		namespace, name string // in the body
		want            string
	}{
		{"a different name is a bad request", "x", "n2", "the name of the object (n2) does not match the name on the URL (n1)"},
		{"no name is a bad request", "x", "", "the name of the object (n1 based on URL) was undeterminable: name must be provided"},
		{"a different namespace is a bad request", "default", "n1", "the namespace of the provided object does not match the namespace sent on the request"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			req := put(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.name}})
			req.Namespace, req.Name = "x", "n1"
			_, err := e.Store("configmaps").Update(t.Context(), req)
			wantStatus(t, err, failureStatus(400, metav1.StatusReasonBadRequest, c.want, nil))
		})
	}
	t.Run("a missing namespace is set from the URL", func(t *testing.T) {
		req := put(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
		req.Namespace = "x"
		if got := update[*corev1.ConfigMap](e, "configmaps", req); got.Namespace != "x" {
			t.Errorf("namespace %q", got.Namespace)
		}
	})
}

func TestUpdateKeepsSystemFields(t *testing.T) {
	e := registrytest.New(t, nil)
	created := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	forged := created.DeepCopy()
	forged.UID = ""
	forged.Generation = 12
	forged.CreationTimestamp = metav1.Time{}
	got := update[*appsv1.Deployment](e, "deployments.apps", put(forged))
	if got.UID != created.UID || got.Generation != 1 || !got.CreationTimestamp.Equal(&created.CreationTimestamp) {
		t.Errorf("metadata %v, want %v", got.ObjectMeta, created.ObjectMeta)
	}
	deleted := metav1.Now()
	forged.DeletionTimestamp = &deleted
	_, err := e.Store("deployments.apps").Update(t.Context(), put(forged))
	wantField(t, err, 422, "metadata.deletionTimestamp")
}
