package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi"
)

func startStatefulSets(t *testing.T) *env {
	t.Helper()
	return startWorkloads(t, "statefulset")
}

func (e *env) createStatefulSet(replicas int32, edit ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	e.Helper()
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.StatefulSetSpec{Replicas: &replicas, Selector: appSelector(), Template: podTemplate("a"), ServiceName: "svc"},
	}
	for _, edit := range edit {
		edit(set)
	}
	created, err := e.client.AppsV1().StatefulSets("default").Create(e.Context(), set, metav1.CreateOptions{})
	e.check(err)
	return created
}

// withClaims adds a template of claims named data, with a retention policy.
func withClaims(deleted, scaled appsv1.PersistentVolumeClaimRetentionPolicyType) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) {
		set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: deleted, WhenScaled: scaled}
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}}
	}
}

func parallel(set *appsv1.StatefulSet) {
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
}

func (e *env) statefulSet() *appsv1.StatefulSet {
	e.Helper()
	set, err := e.client.AppsV1().StatefulSets("default").Get(e.Context(), "web", metav1.GetOptions{})
	e.check(err)
	return set
}

func (e *env) patchStatefulSet(patch string) {
	e.Helper()
	_, err := e.client.AppsV1().StatefulSets("default").Patch(e.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}

func (e *env) setImageOfStatefulSet(image string) {
	e.Helper()
	e.patchStatefulSet(fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":%q}]}}}}`, image))
}

// observed reports whether the status is of the latest generation and all pods are ready.
func (e *env) observed() (appsv1.StatefulSetStatus, bool) {
	e.Helper()
	set := e.statefulSet()
	return set.Status, set.Status.ObservedGeneration == set.Generation && set.Status.AvailableReplicas == *set.Spec.Replicas && set.Status.Replicas == *set.Spec.Replicas
}

// awaitStatefulSet makes pods ready until the set has all pods and they are of the latest revision.
func (e *env) awaitStatefulSet() {
	e.Helper()
	e.awaitReady("the end of the update", func(context.Context) bool {
		status, complete := e.observed()
		return complete && status.UpdatedReplicas == status.Replicas && status.CurrentRevision == status.UpdateRevision
	})
}

// images returns the images of the pods in the order of their names.
func (e *env) images() []string {
	e.Helper()
	var images []string
	for _, pod := range e.appPods() {
		images = append(images, pod.Spec.Containers[0].Image)
	}
	return images
}

// A pod is created when all pods before it are ready.
func TestStatefulSetCreatesPodsInOrder(t *testing.T) {
	e := startStatefulSets(t)
	set := e.createStatefulSet(3)
	for n := range 3 {
		e.await(fmt.Sprint(n+1, " pods"), func(context.Context) bool { return e.statefulSet().Status.Replicas == int32(n+1) })
		list := e.appPods()
		if len(list) != n+1 {
			t.Fatalf("pods %v", names(list))
		}
		e.makeReady()
	}
	pod := e.getPod("web-1")
	want := map[string]string{
		"app": "web", "statefulset.kubernetes.io/pod-name": "web-1", "apps.kubernetes.io/pod-index": "1",
		"controller-revision-hash": e.statefulSet().Status.UpdateRevision,
	}
	if diff := cmp.Diff(want, pod.Labels); diff != "" {
		t.Error(diff)
	}
	if pod.Spec.Hostname != "web-1" || pod.Spec.Subdomain != "svc" || !metav1.IsControlledBy(pod, set) {
		t.Errorf("pod %+v", pod)
	}
	e.awaitEventText(set.UID, "SuccessfulCreate", "Create Pod web-1 in StatefulSet web successful")
	e.awaitStatefulSet()
}

// Pods are deleted one after the other, the highest ordinal first.
func TestStatefulSetDeletesPodsInOrder(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(3)
	e.awaitStatefulSet()
	for _, pod := range e.appPods() {
		e.bind(&pod)
	}
	e.patchStatefulSet(`{"spec":{"replicas":1}}`)
	for _, name := range []string{"web-2", "web-1"} {
		pod := e.awaitPod(name, "deletion", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
		for _, other := range e.appPods() {
			if other.Name != pod.Name && other.DeletionTimestamp != nil {
				t.Errorf("%s is deleted beside %s", other.Name, name)
			}
		}
		e.endPod(name)
	}
	e.awaitStatefulSet()
}

func TestParallelStatefulSetCreatesPodsAtOnce(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(5, parallel, func(set *appsv1.StatefulSet) { set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 3} })
	e.await("five pods", func(context.Context) bool { return e.statefulSet().Status.Replicas == 5 })
	if diff := cmp.Diff([]string{"web-3", "web-4", "web-5", "web-6", "web-7"}, names(e.appPods())); diff != "" {
		t.Error(diff)
	}
	e.patchStatefulSet(`{"spec":{"replicas":0}}`)
	e.await("no pods", func(context.Context) bool { return len(e.appPods()) == 0 && e.statefulSet().Status.Replicas == 0 })
}

// The pods from the partition on are updated, and the others when the partition is lowered.
func TestStatefulSetUpdatesAPartition(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(4, func(set *appsv1.StatefulSet) {
		set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}
	})
	e.awaitStatefulSet()
	e.setImageOfStatefulSet("b")
	e.awaitReady("two new pods", func(context.Context) bool {
		status, complete := e.observed()
		return complete && status.UpdatedReplicas == 2 && status.CurrentReplicas == 2 && status.CurrentRevision != status.UpdateRevision
	})
	if diff := cmp.Diff([]string{"a", "a", "b", "b"}, e.images()); diff != "" {
		t.Error(diff)
	}
	before := e.getPod("web-0").UID
	e.endPod("web-0") // is created again with its revision
	e.awaitPod("web-0", "another pod", func(pod *corev1.Pod) bool { return pod.UID != before })
	if diff := cmp.Diff([]string{"a", "a", "b", "b"}, e.images()); diff != "" {
		t.Error(diff)
	}
	e.patchStatefulSet(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
	e.awaitStatefulSet()
}

func TestStatefulSetUpdatesOnDelete(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(2, func(set *appsv1.StatefulSet) {
		set.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	})
	e.awaitStatefulSet()
	e.setImageOfStatefulSet("b")
	e.await("the new revision", func(context.Context) bool {
		status, complete := e.observed()
		return complete && status.UpdatedReplicas == 0
	})
	e.endPod("web-0")
	e.awaitReady("one new pod", func(context.Context) bool {
		status, complete := e.observed()
		return complete && status.UpdatedReplicas == 1
	})
	if diff := cmp.Diff([]string{"b", "a"}, e.images()); diff != "" {
		t.Error(diff)
	}
}

// A rolling update deletes as many pods as maxUnavailable allows, and no more before they are
// replaced and available.
func TestStatefulSetKeepsMaxUnavailable(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(5, parallel, func(set *appsv1.StatefulSet) {
		set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: new(intstr.FromInt32(2))}
	})
	e.awaitStatefulSet()
	e.setImageOfStatefulSet("b")
	e.await("two new pods", func(context.Context) bool {
		status := e.statefulSet().Status
		return status.UpdatedReplicas == 2 && status.AvailableReplicas == 3
	})
	if diff := cmp.Diff([]string{"a", "a", "a", "b", "b"}, e.images()); diff != "" {
		t.Error(diff)
	}
	e.awaitStatefulSet()
}

// The name of a revision is equal to the name that kube-controller-manager v1.37.1 gives.
func TestStatefulSetRevisionHash(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(0, func(set *appsv1.StatefulSet) {
		set.Spec.Template.Labels["tier"] = "front"
		set.Spec.Template.Annotations = map[string]string{"a": "b"}
		set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		set.Spec.Template.Spec.Containers = []corev1.Container{{
			Name: "c", Image: "nginx:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
			VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}, {Name: "data", MountPath: "/data"}},
		}}
	}, withClaims("", ""))
	e.await("the revision", func(context.Context) bool { return e.statefulSet().Status.UpdateRevision != "" })
	if revision := e.statefulSet().Status.UpdateRevision; revision != "web-696c494f7d" {
		t.Errorf("revision %s", revision)
	}
}

// A former template gets its revision back, as the latest one.
func TestStatefulSetRevisions(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(1, func(set *appsv1.StatefulSet) { set.Spec.RevisionHistoryLimit = new(int32(1)) })
	e.awaitStatefulSet()
	first := e.statefulSet().Status.UpdateRevision
	for _, image := range []string{"b", "c", "b", "a"} {
		e.setImageOfStatefulSet(image)
		e.awaitStatefulSet()
	}
	if last := e.statefulSet().Status.UpdateRevision; last != first {
		t.Errorf("revision %s, then %s", first, last)
	}
	revisions := func() []string {
		list, err := e.client.AppsV1().ControllerRevisions("default").List(t.Context(), metav1.ListOptions{})
		e.check(err)
		var found []string
		for _, r := range list.Items {
			found = append(found, fmt.Sprint(r.Revision, " ", strings.Contains(string(r.Data.Raw), `"image":"b"`)))
		}
		slices.Sort(found)
		return found
	}
	e.await("the limit of the history", func(context.Context) bool { return cmp.Equal([]string{"4 true", "5 false"}, revisions()) })
}

func TestStatefulSetReplacesPodsThatEnd(t *testing.T) {
	e := startStatefulSets(t)
	e.createStatefulSet(1)
	e.awaitStatefulSet()
	before := e.getPod("web-0")
	e.patchPod("web-0", `{"status":{"phase":"Failed"}}`, "status")
	e.awaitPod("web-0", "another pod", func(pod *corev1.Pod) bool { return pod.UID != before.UID })
	e.awaitStatefulSet()
}

func TestStatefulSetCreatesClaims(t *testing.T) {
	const retained, deleted = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	for name, c := range map[string]struct {
		whenDeleted, whenScaled  appsv1.PersistentVolumeClaimRetentionPolicyType
		afterScaling, afterwards []string
	}{
		"retained":            {retained, retained, []string{"data-web-0", "data-web-1"}, []string{"data-web-0", "data-web-1"}},
		"deleted with a pod":  {retained, deleted, []string{"data-web-0"}, []string{"data-web-0"}},
		"deleted with a set":  {deleted, retained, []string{"data-web-0", "data-web-1"}, nil},
		"deleted with either": {deleted, deleted, []string{"data-web-0"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := startStatefulSets(t)
			e.createStatefulSet(2, withClaims(c.whenDeleted, c.whenScaled))
			e.awaitStatefulSet()
			if volume := e.getPod("web-1").Spec.Volumes[0]; volume.Name != "data" || volume.PersistentVolumeClaim.ClaimName != "data-web-1" {
				t.Errorf("volume %+v", volume)
			}
			e.awaitClaims("after the creation", []string{"data-web-0", "data-web-1"})
			e.patchStatefulSet(`{"spec":{"replicas":1}}`)
			e.awaitStatefulSet()
			e.awaitClaims("after the scaling", c.afterScaling)
			e.check(e.client.AppsV1().StatefulSets("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
			e.await("no pods", func(context.Context) bool { return len(e.appPods()) == 0 })
			e.awaitClaims("after the deletion", c.afterwards)
		})
	}
}

// awaitClaims waits until these claims exist. A claim has the finalizer of its protection, which
// the test removes.
func (e *env) awaitClaims(when string, want []string) {
	e.Helper()
	e.await(fmt.Sprint("claims ", when, ": ", want), func(ctx context.Context) bool {
		list, err := e.client.CoreV1().PersistentVolumeClaims("default").List(ctx, metav1.ListOptions{})
		e.check(err)
		var found []string
		for _, claim := range list.Items {
			found = append(found, claim.Name)
			if claim.DeletionTimestamp != nil && len(claim.Finalizers) > 0 {
				_, _ = e.client.CoreV1().PersistentVolumeClaims("default").Patch(ctx, claim.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			}
		}
		return cmp.Equal(want, found)
	})
}

// An update continues after a restart of the server.
func TestStatefulSetContinuesAfterARestart(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir(), Controllers: []string{"*", "statefulset"}}
	e := start(t, config)
	e.createStatefulSet(3)
	e.awaitStatefulSet()
	e.setImageOfStatefulSet("b")
	e.await("an update that waits for a new pod", func(context.Context) bool { return e.statefulSet().Status.UpdatedReplicas == 1 })
	e.stop()
	e = start(t, config)
	e.awaitStatefulSet()
	if diff := cmp.Diff([]string{"b", "b", "b"}, e.images()); diff != "" {
		t.Error(diff)
	}
}

func TestStatefulSetWithInstantPods(t *testing.T) {
	e := start(t, miniapi.Config{Pods: miniapi.PodsInstant, Controllers: []string{"*", "statefulset"}})
	e.createStatefulSet(3)
	for _, image := range []string{"a", "b"} {
		e.setImageOfStatefulSet(image)
		e.await("the end of the update", func(context.Context) bool {
			status, complete := e.observed()
			return complete && status.CurrentRevision == status.UpdateRevision
		})
	}
}
