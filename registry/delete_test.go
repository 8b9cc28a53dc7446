package registry_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func deleteRequest(name string, options *metav1.DeleteOptions) registry.DeleteRequest {
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	return registry.DeleteRequest{Namespace: registrytest.Namespace, Name: name, Options: options}
}

// isAbsent reports whether the store has no such object.
func isAbsent(e *registrytest.Env, resource, namespace, name string) bool {
	e.Helper()
	_, err := e.Store(resource).Get(e.Context(), namespace, name, "")
	if err != nil && !apierrors.IsNotFound(err) {
		e.Fatal(err)
	}
	return err != nil
}

func TestDeleteRemoves(t *testing.T) {
	e := registrytest.New(t, nil)
	created := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	result, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("c", nil))
	if err != nil || !result.Removed || registrytest.Meta(registrytest.Object(result.Entry)).GetUID() != created.UID {
		t.Fatalf("result %v, error %v", result, err)
	}
	_, err = e.Store("configmaps").Delete(t.Context(), deleteRequest("c", nil))
	wantStatus(t, err, failureStatus(404, metav1.StatusReasonNotFound, `configmaps "c" not found`, detailsOf("", "configmaps", "c")))
}

func TestDeletePreconditions(t *testing.T) {
	env := registrytest.New(t, nil)
	created := env.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	uid, version := types.UID("x"), "1"
	for _, c := range []struct {
		rule          string
		preconditions metav1.Preconditions
		want          string
	}{
		{
			"a different uid conflicts", metav1.Preconditions{UID: &uid},
			`Operation cannot be fulfilled on Deployment.apps "d": the UID in the precondition (x) does not match the UID in record (` +
				string(created.UID) + `). The object might have been deleted and then recreated`,
		},
		{
			"a different resourceVersion conflicts", metav1.Preconditions{ResourceVersion: &version},
			`Operation cannot be fulfilled on Deployment.apps "d": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (` +
				created.ResourceVersion + `). The object might have been modified`,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := env.Store("deployments.apps").Delete(t.Context(), deleteRequest("d", &metav1.DeleteOptions{Preconditions: &c.preconditions}))
			wantStatus(t, err, failureStatus(409, metav1.StatusReasonConflict, c.want, detailsOf("apps", "Deployment", "d")))
		})
	}
	t.Run("matching preconditions are met", func(t *testing.T) {
		options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &created.UID, ResourceVersion: &created.ResourceVersion}}
		if _, err := env.Store("deployments.apps").Delete(t.Context(), deleteRequest("d", options)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRemovalOfTheLastFinalizerDeletesTheObject(t *testing.T) {
	e := registrytest.New(t, nil)
	created := e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("f1"), func(c *corev1.ConfigMap) {
		c.Finalizers = []string{"exam.io/one", "exam.io/two"}
	})).(*corev1.ConfigMap)
	result, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("f1", nil))
	if err != nil || result.Removed {
		t.Fatalf("removed %v, error %v", result.Removed, err)
	}
	marked := registrytest.Object(result.Entry).(*corev1.ConfigMap)
	if marked.DeletionTimestamp == nil || *marked.DeletionGracePeriodSeconds != 0 || marked.ResourceVersion == created.ResourceVersion {
		t.Fatalf("marked %v", marked.ObjectMeta)
	}
	second, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("f1", nil))
	if err != nil || second.Removed || registrytest.Meta(registrytest.Object(second.Entry)).GetResourceVersion() != marked.ResourceVersion {
		t.Fatalf("second deletion: %v, error %v", second, err)
	}
	_, err = e.Store("configmaps").Update(t.Context(), patch(created, func(c *corev1.ConfigMap) { c.Finalizers = append(c.Finalizers, "exam.io/three") }))
	details := detailsOf("", "ConfigMap", "f1")
	text := `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"exam.io/three"}`
	details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeForbidden, Message: text, Field: "metadata.finalizers"}}
	wantStatus(t, err, failureStatus(422, metav1.StatusReasonInvalid, `ConfigMap "f1" is invalid: metadata.finalizers: `+text, details))

	one := update[*corev1.ConfigMap](e, "configmaps", patch(created, func(c *corev1.ConfigMap) { c.Finalizers = c.Finalizers[:1] }))
	if len(one.Finalizers) != 1 || isAbsent(e, "configmaps", "x", "f1") {
		t.Fatalf("finalizers %v, want one and the object stored", one.Finalizers)
	}
	none := update[*corev1.ConfigMap](e, "configmaps", patch(created, func(c *corev1.ConfigMap) { c.Finalizers, c.Data = nil, map[string]string{"final": "data"} }))
	if none.Data["final"] != "data" || none.ResourceVersion != one.ResourceVersion {
		t.Errorf("result %v, want the submitted object with the previous resourceVersion", none)
	}
	if !isAbsent(e, "configmaps", "x", "f1") {
		t.Error("the object still exists")
	}
}

func TestGracePeriodContinuesWithoutFinalizers(t *testing.T) {
	e := registrytest.New(t, nil)
	pod := e.Create("pods", registrytest.Change(registrytest.NewPod("p", "node"), func(p *corev1.Pod) { p.Finalizers = []string{"exam.io/one"} })).(*corev1.Pod)
	if _, err := e.Store("pods").Delete(t.Context(), deleteRequest("p", nil)); err != nil {
		t.Fatal(err)
	}
	update[*corev1.Pod](e, "pods", patch(pod, func(p *corev1.Pod) { p.Finalizers = nil }))
	if isAbsent(e, "pods", "x", "p") {
		t.Fatal("the pod was removed before the end of its grace period")
	}
	result, err := e.Store("pods").Delete(t.Context(), deleteRequest("p", metav1.NewDeleteOptions(0)))
	if err != nil || !result.Removed || !isAbsent(e, "pods", "x", "p") {
		t.Errorf("removed %v, error %v", result.Removed, err)
	}
}

func TestGracePeriod(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("pods", registrytest.NewPod("gr", "node-x"))
	for _, c := range []struct {
		rule       string
		options    *metav1.DeleteOptions
		grace      int64
		generation int64
		removed    bool
	}{
		{"the first deletion starts the grace period", metav1.NewDeleteOptions(20), 20, 2, false},
		{"a later deletion may shorten it", metav1.NewDeleteOptions(10), 10, 2, false},
		{"a later deletion cannot extend it", metav1.NewDeleteOptions(40), 10, 2, false},
		{"a grace period of zero removes the object", metav1.NewDeleteOptions(0), 0, 2, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			result, err := e.Store("pods").Delete(t.Context(), deleteRequest("gr", c.options))
			if err != nil {
				t.Fatal(err)
			}
			m := registrytest.Meta(registrytest.Object(result.Entry))
			if *m.GetDeletionGracePeriodSeconds() != c.grace || m.GetGeneration() != c.generation || result.Removed != c.removed {
				t.Errorf("grace %d, generation %d, removed %v", *m.GetDeletionGracePeriodSeconds(), m.GetGeneration(), result.Removed)
			}
		})
	}
	if !isAbsent(e, "pods", "x", "gr") {
		t.Error("the object still exists")
	}
}

func TestNegativeGracePeriodIsOneSecond(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("pods", registrytest.NewPod("p", "node-x"))
	options := metav1.NewDeleteOptions(-5)
	result, err := e.Store("pods").Delete(t.Context(), deleteRequest("p", options))
	if err != nil || *registrytest.Meta(registrytest.Object(result.Entry)).GetDeletionGracePeriodSeconds() != 1 {
		t.Errorf("result %v, error %v", result, err)
	}
	if *options.GracePeriodSeconds != -5 {
		t.Error("the options of the caller were modified")
	}
}

func TestFinalizeRemovesANamespace(t *testing.T) {
	e := registrytest.New(t, nil)
	created := e.Create("namespaces", registrytest.NewNamespace("dying")).(*corev1.Namespace)
	var marked *corev1.Namespace
	for range 2 {
		result, err := e.Store("namespaces").Delete(t.Context(), registry.DeleteRequest{Name: "dying", Options: &metav1.DeleteOptions{}})
		if err != nil || result.Removed {
			t.Fatalf("removed %v, error %v", result.Removed, err)
		}
		got := registrytest.Object(result.Entry).(*corev1.Namespace)
		if got.DeletionTimestamp == nil || got.DeletionGracePeriodSeconds != nil || got.Status.Phase != corev1.NamespaceTerminating {
			t.Fatalf("marked %v", got)
		}
		if marked != nil && got.ResourceVersion != marked.ResourceVersion {
			t.Error("the second deletion wrote the namespace")
		}
		marked = got
	}
	update[*corev1.Namespace](e, "namespaces", patch(created, func(n *corev1.Namespace) { n.Spec.Finalizers = nil }))
	if isAbsent(e, "namespaces", "", "dying") {
		t.Fatal("an update of the namespace changed spec.finalizers")
	}
	update[*corev1.Namespace](e, "namespaces", withSubresource("finalize", patch(created, func(n *corev1.Namespace) { n.Spec.Finalizers = nil })))
	if !isAbsent(e, "namespaces", "", "dying") {
		t.Error("the object still exists")
	}
}

func TestForbiddenDeletion(t *testing.T) {
	configMaps := registrytest.ConfigMaps()
	refusal := apierrors.NewForbidden(configMaps.GroupResource(), "c", nil)
	configMaps.Strategy.Delete.Forbidden = func(obj runtime.Object) error { return refusal }
	e := registrytest.New(t, nil, configMaps)
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	_, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("c", nil))
	wantStatus(t, err, refusal.ErrStatus)
	if isAbsent(e, "configmaps", "x", "c") {
		t.Error("the object was deleted")
	}
}

func TestDeleteCollection(t *testing.T) {
	e := registrytest.New(t, nil)
	for _, name := range []string{"a", "b", "c", "d"} {
		e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap(name), func(c *corev1.ConfigMap) {
			c.Labels = map[string]string{"keep": map[bool]string{true: "yes", false: "no"}[name == "d"]}
			if name == "b" {
				c.Finalizers = []string{"exam.io/one"}
			}
		}))
	}
	request := registry.ListRequest{Namespace: "x", Label: selector(t, "keep=no")}
	page, err := e.Store("configmaps").DeleteCollection(t.Context(), deleteRequest("", nil), request)
	if err != nil {
		t.Fatal(err)
	}
	if got := namesOf(t, page.Entries); got != "a b c" || page.Revision == 0 {
		t.Errorf("deleted %q at %d", got, page.Revision)
	}
	rest, err := e.Store("configmaps").List(t.Context(), registry.ListRequest{Namespace: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if got := namesOf(t, rest.Entries); got != "b d" {
		t.Errorf("remaining objects %q", got)
	}
	if e.Get("configmaps", "x", "b").(*corev1.ConfigMap).DeletionTimestamp == nil {
		t.Error("b is not marked")
	}
	t.Run("a limit deletes one page", func(t *testing.T) {
		e := e.With(t)
		for _, name := range []string{"l1", "l2", "l3"} {
			e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap(name), func(c *corev1.ConfigMap) { c.Labels = map[string]string{"l": "l"} }))
		}
		page, err := e.Store("configmaps").DeleteCollection(t.Context(), deleteRequest("", nil), registry.ListRequest{Namespace: "x", Label: selector(t, "l=l"), Limit: 2})
		if err != nil || namesOf(t, page.Entries) != "l1 l2" || page.Continue == "" || isAbsent(e, "configmaps", "x", "l3") {
			t.Errorf("page %v, error %v", page, err)
		}
	})
}
