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

func remove(name string, options *metav1.DeleteOptions) registry.DeleteRequest {
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	return registry.DeleteRequest{Namespace: registrytest.Namespace, Name: name, Options: options}
}

// absent tells whether an object is gone.
func absent(e *registrytest.Env, resource, namespace, name string) bool {
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
	result, err := e.Store("configmaps").Delete(t.Context(), remove("c", nil))
	if err != nil || !result.Removed || registrytest.Meta(registrytest.Object(result.Entry)).GetUID() != created.UID {
		t.Fatalf("result %v, error %v", result, err)
	}
	_, err = e.Store("configmaps").Delete(t.Context(), remove("c", nil))
	wantStatus(t, err, failure(404, metav1.StatusReasonNotFound, `configmaps "c" not found`, about("", "configmaps", "c")))
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
			"another uid conflicts", metav1.Preconditions{UID: &uid},
			`Operation cannot be fulfilled on Deployment.apps "d": the UID in the precondition (x) does not match the UID in record (` +
				string(created.UID) + `). The object might have been deleted and then recreated`,
		},
		{
			"another version conflicts", metav1.Preconditions{ResourceVersion: &version},
			`Operation cannot be fulfilled on Deployment.apps "d": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (` +
				created.ResourceVersion + `). The object might have been modified`,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := env.Store("deployments.apps").Delete(t.Context(), remove("d", &metav1.DeleteOptions{Preconditions: &c.preconditions}))
			wantStatus(t, err, failure(409, metav1.StatusReasonConflict, c.want, about("apps", "Deployment", "d")))
		})
	}
	t.Run("what is stored is deleted", func(t *testing.T) {
		options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &created.UID, ResourceVersion: &created.ResourceVersion}}
		if _, err := env.Store("deployments.apps").Delete(t.Context(), remove("d", options)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFinalizersKeepAnObjectUntilTheLastIsGone(t *testing.T) {
	e := registrytest.New(t, nil)
	created := e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("f1"), func(c *corev1.ConfigMap) {
		c.Finalizers = []string{"exam.io/one", "exam.io/two"}
	})).(*corev1.ConfigMap)
	result, err := e.Store("configmaps").Delete(t.Context(), remove("f1", nil))
	if err != nil || result.Removed {
		t.Fatalf("removed %v, error %v", result.Removed, err)
	}
	marked := registrytest.Object(result.Entry).(*corev1.ConfigMap)
	if marked.DeletionTimestamp == nil || *marked.DeletionGracePeriodSeconds != 0 || marked.ResourceVersion == created.ResourceVersion {
		t.Fatalf("marked %v", marked.ObjectMeta)
	}
	again, err := e.Store("configmaps").Delete(t.Context(), remove("f1", nil))
	if err != nil || again.Removed || registrytest.Meta(registrytest.Object(again.Entry)).GetResourceVersion() != marked.ResourceVersion {
		t.Fatalf("the second time: %v, error %v", again, err)
	}
	_, err = e.Store("configmaps").Update(t.Context(), patch(created, func(c *corev1.ConfigMap) { c.Finalizers = append(c.Finalizers, "exam.io/three") }))
	details := about("", "ConfigMap", "f1")
	text := `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"exam.io/three"}`
	details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeForbidden, Message: text, Field: "metadata.finalizers"}}
	wantStatus(t, err, failure(422, metav1.StatusReasonInvalid, `ConfigMap "f1" is invalid: metadata.finalizers: `+text, details))

	one := update[*corev1.ConfigMap](e, "configmaps", patch(created, func(c *corev1.ConfigMap) { c.Finalizers = c.Finalizers[:1] }))
	if len(one.Finalizers) != 1 || absent(e, "configmaps", "x", "f1") {
		t.Fatalf("one finalizer is left: %v", one.Finalizers)
	}
	none := update[*corev1.ConfigMap](e, "configmaps", patch(created, func(c *corev1.ConfigMap) { c.Finalizers, c.Data = nil, map[string]string{"last": "word"} }))
	if none.Data["last"] != "word" || none.ResourceVersion != one.ResourceVersion {
		t.Errorf("the answer is what was submitted, on the version it was made of: %v", none)
	}
	if !absent(e, "configmaps", "x", "f1") {
		t.Error("it is still there")
	}
}

func TestAGracePeriodOutlivesFinalizers(t *testing.T) {
	e := registrytest.New(t, nil)
	pod := e.Create("pods", registrytest.Change(registrytest.NewPod("p", "node"), func(p *corev1.Pod) { p.Finalizers = []string{"exam.io/one"} })).(*corev1.Pod)
	if _, err := e.Store("pods").Delete(t.Context(), remove("p", nil)); err != nil {
		t.Fatal(err)
	}
	update[*corev1.Pod](e, "pods", patch(pod, func(p *corev1.Pod) { p.Finalizers = nil }))
	if absent(e, "pods", "x", "p") {
		t.Fatal("the pod went before its grace period")
	}
	result, err := e.Store("pods").Delete(t.Context(), remove("p", metav1.NewDeleteOptions(0)))
	if err != nil || !result.Removed || !absent(e, "pods", "x", "p") {
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
		{"the first deletion starts it", metav1.NewDeleteOptions(20), 20, 2, false},
		{"the next may shorten it", metav1.NewDeleteOptions(10), 10, 2, false},
		{"and not lengthen it", metav1.NewDeleteOptions(40), 10, 2, false},
		{"none removes", metav1.NewDeleteOptions(0), 0, 2, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			result, err := e.Store("pods").Delete(t.Context(), remove("gr", c.options))
			if err != nil {
				t.Fatal(err)
			}
			m := registrytest.Meta(registrytest.Object(result.Entry))
			if *m.GetDeletionGracePeriodSeconds() != c.grace || m.GetGeneration() != c.generation || result.Removed != c.removed {
				t.Errorf("grace %d, generation %d, removed %v", *m.GetDeletionGracePeriodSeconds(), m.GetGeneration(), result.Removed)
			}
		})
	}
	if !absent(e, "pods", "x", "gr") {
		t.Error("it is still there")
	}
}

func TestNegativeGracePeriodIsASecond(t *testing.T) {
	e := registrytest.New(t, nil)
	e.Create("pods", registrytest.NewPod("p", "node-x"))
	options := metav1.NewDeleteOptions(-5)
	result, err := e.Store("pods").Delete(t.Context(), remove("p", options))
	if err != nil || *registrytest.Meta(registrytest.Object(result.Entry)).GetDeletionGracePeriodSeconds() != 1 {
		t.Errorf("result %v, error %v", result, err)
	}
	if *options.GracePeriodSeconds != -5 {
		t.Error("the caller's options changed")
	}
}

func TestNamespacesGoWhenTheirFinalizersAreGone(t *testing.T) {
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
			t.Error("the second deletion wrote something")
		}
		marked = got
	}
	update[*corev1.Namespace](e, "namespaces", patch(created, func(n *corev1.Namespace) { n.Spec.Finalizers = nil }))
	if absent(e, "namespaces", "", "dying") {
		t.Fatal("the resource itself cannot change the finalizers")
	}
	update[*corev1.Namespace](e, "namespaces", to("finalize", patch(created, func(n *corev1.Namespace) { n.Spec.Finalizers = nil })))
	if !absent(e, "namespaces", "", "dying") {
		t.Error("it is still there")
	}
}

func TestForbiddenDeletion(t *testing.T) {
	configMaps := registrytest.ConfigMaps()
	refusal := apierrors.NewForbidden(configMaps.GroupResource(), "c", nil)
	configMaps.Strategy.Delete.Forbidden = func(obj runtime.Object) error { return refusal }
	e := registrytest.New(t, nil, configMaps)
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	_, err := e.Store("configmaps").Delete(t.Context(), remove("c", nil))
	wantStatus(t, err, refusal.ErrStatus)
	if absent(e, "configmaps", "x", "c") {
		t.Error("it is gone")
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
	page, err := e.Store("configmaps").DeleteCollection(t.Context(), remove("", nil), request)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, page.Entries); got != "a b c" || page.Revision == 0 {
		t.Errorf("deleted %q at %d", got, page.Revision)
	}
	left, err := e.Store("configmaps").List(t.Context(), registry.ListRequest{Namespace: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, left.Entries); got != "b d" {
		t.Errorf("left are %q", got)
	}
	if e.Get("configmaps", "x", "b").(*corev1.ConfigMap).DeletionTimestamp == nil {
		t.Error("b is not marked")
	}
	t.Run("with a limit deletes one page", func(t *testing.T) {
		e := e.With(t)
		for _, name := range []string{"l1", "l2", "l3"} {
			e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap(name), func(c *corev1.ConfigMap) { c.Labels = map[string]string{"l": "l"} }))
		}
		page, err := e.Store("configmaps").DeleteCollection(t.Context(), remove("", nil), registry.ListRequest{Namespace: "x", Label: selector(t, "l=l"), Limit: 2})
		if err != nil || names(t, page.Entries) != "l1 l2" || page.Continue == "" || absent(e, "configmaps", "x", "l3") {
			t.Errorf("page %v, error %v", page, err)
		}
	})
}
