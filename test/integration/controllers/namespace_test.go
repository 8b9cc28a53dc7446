package controllers_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

func TestEmptyNamespaceGoesAwayAndCanBeCreatedAgain(t *testing.T) {
	e := start(t, miniapi.Config{})
	for range 3 {
		e.createNamespace("n")
		e.deleteNamespace("n")
		e.awaitNamespaceGone("n")
	}
}

func TestNamespaceDeletionDeletesItsContent(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("n")
	e.createNamespace("other")
	for i := range 20 {
		e.createConfigMap("n", fmt.Sprintf("m%d", i))
	}
	e.createConfigMap("other", "kept")
	_, err := e.client.CoreV1().Secrets("n").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
	e.check(err)
	e.deleteNamespace("n")
	e.awaitNamespaceGone("n")
	e.createNamespace("n")
	maps, err := e.client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	e.check(err)
	for _, m := range maps.Items {
		if m.Namespace == "n" {
			t.Errorf("%s is left", m.Name)
		}
	}
	_, err = e.client.CoreV1().ConfigMaps("other").Get(t.Context(), "kept", metav1.GetOptions{})
	e.check(err)
	if secrets, err := e.client.CoreV1().Secrets("n").List(t.Context(), metav1.ListOptions{}); err != nil || len(secrets.Items) > 0 {
		t.Errorf("%v secrets, error %v", len(secrets.Items), err)
	}
}

// The messages of the conditions equal the messages of kube-controller-manager.
func TestFinalizersOfTheContentKeepTheNamespace(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("n")
	e.createConfigMap("n", "held", withFinalizer("example.com/hold"))
	e.createConfigMap("n", "free")
	e.deleteNamespace("n")
	for kind, want := range map[corev1.NamespaceConditionType]string{
		corev1.NamespaceContentRemaining:    "SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
		corev1.NamespaceFinalizersRemaining: "SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
	} {
		if got := e.awaitCondition("n", kind, corev1.ConditionTrue); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	for kind, want := range map[corev1.NamespaceConditionType]string{
		corev1.NamespaceDeletionDiscoveryFailure: "ResourcesDiscovered: All resources successfully discovered",
		corev1.NamespaceDeletionGVParsingFailure: "ParsedGroupVersions: All legacy kube types successfully parsed",
		corev1.NamespaceDeletionContentFailure:   "ContentDeleted: All content successfully deleted, may be waiting on finalization",
	} {
		if got := e.awaitCondition("n", kind, corev1.ConditionFalse); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	e.patchConfigMap("n", "held", `{"metadata":{"finalizers":null}}`)
	e.awaitNamespaceGone("n")
}

func (e *env) patchConfigMap(namespace, name, patch string) {
	e.Helper()
	_, err := e.client.CoreV1().ConfigMaps(namespace).Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}

// Pods are deleted first. Other objects are deleted when no pod is left.
func TestPodsAreDeletedBeforeOtherContent(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("n")
	e.createConfigMap("n", "later")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Finalizers: []string{"example.com/hold"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	_, err := e.client.CoreV1().Pods("n").Create(t.Context(), pod, metav1.CreateOptions{})
	e.check(err)
	e.deleteNamespace("n")
	e.awaitCondition("n", corev1.NamespaceDeletionContentFailure, corev1.ConditionFalse)
	if m, err := e.client.CoreV1().ConfigMaps("n").Get(t.Context(), "later", metav1.GetOptions{}); err != nil || m.DeletionTimestamp != nil {
		t.Errorf("the ConfigMap is deleted before the pod: %v", err)
	}
	_, err = e.client.CoreV1().Pods("n").Patch(t.Context(), "p", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	e.check(err)
	e.awaitNamespaceGone("n")
}

// Finalizers of the namespace other than kubernetes keep it after its content is gone.
func TestOtherFinalizersKeepTheNamespace(t *testing.T) {
	e := start(t, miniapi.Config{})
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"example.com/hold"}}}
	_, err := e.client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
	e.check(err)
	e.createConfigMap("n", "m")
	e.deleteNamespace("n")
	e.await("the release by the controller", func(ctx context.Context) bool {
		ns, err = e.client.CoreV1().Namespaces().Get(ctx, "n", metav1.GetOptions{})
		e.check(err)
		return len(ns.Spec.Finalizers) == 1
	})
	if ns.Spec.Finalizers[0] != "example.com/hold" {
		t.Errorf("finalizers %v", ns.Spec.Finalizers)
	}
	ns.Spec.Finalizers = nil
	_, err = e.client.CoreV1().Namespaces().Finalize(t.Context(), ns, metav1.UpdateOptions{})
	e.check(err)
	e.awaitNamespaceGone("n")
}

// An object whose creation was admitted before the deletion of its namespace does not outlive the
// namespace.
func TestCreationsDuringTheDeletionLeaveNothing(t *testing.T) {
	e := start(t, miniapi.Config{})
	for round := range 20 {
		name := fmt.Sprintf("n%d", round)
		e.createNamespace(name)
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() {
				for i := 0; ; i++ {
					_, err := e.client.CoreV1().ConfigMaps(name).Create(t.Context(), configMap(name, fmt.Sprintf("m%d-%d", w, i)), metav1.CreateOptions{})
					if err != nil {
						if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		e.deleteNamespace(name)
		writers.Wait()
		e.awaitNamespaceGone(name)
	}
	maps, err := e.client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	e.check(err)
	for _, m := range maps.Items {
		t.Errorf("%s/%s is left", m.Namespace, m.Name)
	}
}

func TestManyObjectsAreDeletedPageByPage(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("n")
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 400 {
				edit := func(*corev1.ConfigMap) {}
				if i%100 == 0 {
					edit = withFinalizer("example.com/hold")
				}
				e.createConfigMap("n", fmt.Sprintf("m%d-%d", w, i), edit)
			}
		})
	}
	writers.Wait()
	e.deleteNamespace("n")
	want := "SomeResourcesRemain: Some resources are remaining: configmaps. has 16 resource instances"
	if got := e.awaitCondition("n", corev1.NamespaceContentRemaining, corev1.ConditionTrue); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	maps, err := e.client.CoreV1().ConfigMaps("n").List(t.Context(), metav1.ListOptions{})
	e.check(err)
	for _, m := range maps.Items {
		e.patchConfigMap("n", m.Name, `{"metadata":{"finalizers":null}}`)
	}
	e.awaitNamespaceGone("n")
}

// A restart in the middle of a deletion continues it.
func TestRestartContinuesTheDeletion(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir()}
	off := config
	off.Controllers = []string{"-*"}
	e := start(t, off)
	e.createNamespace("n")
	e.createConfigMap("n", "m")
	e.deleteNamespace("n")
	e.stop()
	e = start(t, config)
	e.awaitNamespaceGone("n")
	if _, err := e.client.CoreV1().ConfigMaps("n").Get(t.Context(), "m", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the content: %v", err)
	}
}

// Without controllers a deleted namespace stays.
func TestControllersCanBeOff(t *testing.T) {
	e := start(t, miniapi.Config{Controllers: []string{"-*"}})
	e.createNamespace("n")
	e.deleteNamespace("n")
	ns, err := e.client.CoreV1().Namespaces().Get(t.Context(), "n", metav1.GetOptions{})
	if err != nil || ns.Status.Phase != corev1.NamespaceTerminating || len(ns.Status.Conditions) > 0 {
		t.Errorf("namespace %+v, error %v", ns.Status, err)
	}
}

func TestManagedFieldsNameTheController(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("n")
	e.createConfigMap("n", "held", withFinalizer("example.com/hold"))
	e.deleteNamespace("n")
	e.awaitCondition("n", corev1.NamespaceContentRemaining, corev1.ConditionTrue)
	ns, err := e.client.CoreV1().Namespaces().Get(t.Context(), "n", metav1.GetOptions{})
	e.check(err)
	for _, m := range ns.ManagedFields {
		if m.Manager == "kube-controller-manager" && m.Subresource == "status" {
			return
		}
	}
	t.Errorf("managedFields %v", ns.ManagedFields)
}
