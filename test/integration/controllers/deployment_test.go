package controllers_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi"
)

func startDeployments(t *testing.T) *env {
	t.Helper()
	return startWorkloads(t, "deployment", "replicaset")
}

func (e *env) createDeployment(replicas int32, edit ...func(*appsv1.Deployment)) *appsv1.Deployment {
	e.Helper()
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: appSelector(), Template: podTemplate("a")},
	}
	for _, edit := range edit {
		edit(d)
	}
	created, err := e.client.AppsV1().Deployments("default").Create(e.Context(), d, metav1.CreateOptions{})
	e.check(err)
	return created
}

func (e *env) deployment() *appsv1.Deployment {
	e.Helper()
	d, err := e.client.AppsV1().Deployments("default").Get(e.Context(), "web", metav1.GetOptions{})
	e.check(err)
	return d
}

func (e *env) patchDeployment(patch string) {
	e.Helper()
	_, err := e.client.AppsV1().Deployments("default").Patch(e.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	e.check(err)
}

// setImage starts a rollout.
func (e *env) setImage(image string) {
	e.Helper()
	e.patchDeployment(fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":%q}]}}}}`, image))
}

// replicaSets returns the ReplicaSets by the image of their pods.
func (e *env) replicaSets() map[string]*appsv1.ReplicaSet {
	e.Helper()
	list, err := e.client.AppsV1().ReplicaSets("default").List(e.Context(), metav1.ListOptions{LabelSelector: labels.FormatLabels(app())})
	e.check(err)
	sets := map[string]*appsv1.ReplicaSet{}
	for i := range list.Items {
		sets[list.Items[i].Spec.Template.Spec.Containers[0].Image] = &list.Items[i]
	}
	return sets
}

// isComplete reports whether all pods of the Deployment are new and available.
func isComplete(d *appsv1.Deployment) bool {
	n, status := *d.Spec.Replicas, d.Status
	return status.ObservedGeneration == d.Generation && status.UpdatedReplicas == n && status.Replicas == n && status.AvailableReplicas == n
}

// awaitRollout makes the pods ready until the Deployment is complete, and returns it.
func (e *env) awaitRollout() *appsv1.Deployment {
	e.Helper()
	e.awaitReady("the end of the rollout", func(context.Context) bool { return isComplete(e.deployment()) })
	return e.deployment()
}

// awaitProgress waits until the condition Progressing has a text, and returns its status.
func (e *env) awaitProgress(text string) (status corev1.ConditionStatus) {
	e.Helper()
	e.await("Progressing: "+text, func(context.Context) bool {
		for _, c := range e.deployment().Status.Conditions {
			if c.Type == appsv1.DeploymentProgressing && c.Reason+": "+c.Message == text {
				status = c.Status
				return true
			}
		}
		return false
	})
	return status
}

func conditionTexts(d *appsv1.Deployment) map[string]string {
	texts := map[string]string{}
	for _, c := range d.Status.Conditions {
		texts[string(c.Type)] = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
	}
	return texts
}

func TestDeploymentBecomesAvailable(t *testing.T) {
	e := startDeployments(t)
	d := e.createDeployment(3, func(d *appsv1.Deployment) { d.Annotations = map[string]string{"note": "n"} })
	e.await("three pods", func(context.Context) bool { return e.deployment().Status.UpdatedReplicas == 3 })
	set := e.replicaSets()["a"]
	hash := set.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if set.Name != "web-"+hash || set.Spec.Selector.MatchLabels[appsv1.DefaultDeploymentUniqueLabelKey] != hash || !metav1.IsControlledBy(set, d) {
		t.Errorf("ReplicaSet %+v", set.ObjectMeta)
	}
	want := map[string]string{"note": "n", "deployment.kubernetes.io/revision": "1", "deployment.kubernetes.io/desired-replicas": "3", "deployment.kubernetes.io/max-replicas": "4"}
	if diff := cmp.Diff(want, set.Annotations); diff != "" {
		t.Error(diff)
	}
	e.awaitEventText(d.UID, "ScalingReplicaSet", fmt.Sprintf("Scaled up replica set %s from 0 to 3", set.Name))
	wantConditions := map[string]string{
		"Available":   "False MinimumReplicasUnavailable: Deployment does not have minimum availability.",
		"Progressing": fmt.Sprintf("True ReplicaSetUpdated: ReplicaSet %q is progressing.", set.Name),
	}
	if diff := cmp.Diff(wantConditions, conditionTexts(e.deployment())); diff != "" {
		t.Error(diff)
	}
	d = e.awaitRollout()
	wantConditions = map[string]string{
		"Available":   "True MinimumReplicasAvailable: Deployment has minimum availability.",
		"Progressing": fmt.Sprintf("True NewReplicaSetAvailable: ReplicaSet %q has successfully progressed.", set.Name),
	}
	if diff := cmp.Diff(wantConditions, conditionTexts(d)); diff != "" {
		t.Error(diff)
	}
	status := d.Status
	status.Conditions = nil
	if diff := cmp.Diff(appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, TerminatingReplicas: new(int32)}, status); diff != "" {
		t.Error(diff)
	}
	if revision := d.Annotations["deployment.kubernetes.io/revision"]; revision != "1" || d.Generation != 1 {
		t.Errorf("revision %s, generation %d", revision, d.Generation)
	}
}

// The hash of a template is equal to the hash of kube-controller-manager v1.37.1.
func TestPodTemplateHash(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(0, func(d *appsv1.Deployment) {
		d.Spec.Template.Labels["tier"] = "front"
		d.Spec.Template.Annotations = map[string]string{"a": "b"}
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		d.Spec.Template.Spec.Containers = []corev1.Container{{
			Name: "c", Image: "nginx:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}}, Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}},
			VolumeMounts:   []corev1.VolumeMount{{Name: "v", MountPath: "/v"}},
		}}
	})
	e.await("the ReplicaSet", func(context.Context) bool { return len(e.replicaSets()) == 1 })
	if set := e.replicaSets()["nginx:1"]; set == nil || set.Name != "web-56755d7698" {
		t.Errorf("ReplicaSets %v", e.replicaSets())
	}
}

// With instant pods a Deployment becomes available without a test that writes statuses.
func TestDeploymentWithInstantPods(t *testing.T) {
	e := start(t, miniapi.Config{Pods: miniapi.PodsInstant, Controllers: []string{"*", "deployment", "replicaset"}})
	e.createDeployment(3)
	for _, image := range []string{"a", "b"} {
		e.setImage(image)
		e.await("the end of the rollout", func(context.Context) bool { return isComplete(e.deployment()) })
	}
	e.patchDeployment(`{"spec":{"replicas":0}}`)
	e.await("the end of the pods", func(context.Context) bool { return len(e.appPods()) == 0 })
}

// The ReplicaSets of a rolling update never request more pods than maxSurge allows, and never fewer
// pods are available than maxUnavailable allows.
func TestRollingUpdateKeepsItsLimits(t *testing.T) {
	for name, limits := range map[string]struct{ surge, unavailable intstr.IntOrString }{
		"surge":       {intstr.FromInt32(2), intstr.FromInt32(0)},
		"unavailable": {intstr.FromInt32(0), intstr.FromInt32(2)},
		"percent":     {intstr.FromString("25%"), intstr.FromString("25%")}, // 2 more, 1 fewer
	} {
		t.Run(name, func(t *testing.T) {
			e := startDeployments(t)
			e.createDeployment(6, func(d *appsv1.Deployment) {
				d.Spec.Strategy = appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &limits.surge, MaxUnavailable: &limits.unavailable}}
			})
			e.awaitRollout()
			surge, unavailable := map[string]int{"surge": 2, "percent": 2}[name], map[string]int{"unavailable": 2, "percent": 1}[name]
			most, least := 0, 6
			e.setImage("b")
			e.await("the end of the rollout", func(context.Context) bool {
				requested, ready := 0, 0
				for _, set := range e.replicaSets() {
					requested += int(*set.Spec.Replicas)
				}
				for _, pod := range e.makeReady() {
					if pod.Status.Phase == corev1.PodRunning {
						ready++
					}
				}
				most, least = max(most, requested), min(least, ready)
				return isComplete(e.deployment())
			})
			if most > 6+surge || least < 6-unavailable {
				t.Errorf("%d pods requested, %d available", most, least)
			}
		})
	}
}

// A former template continues its ReplicaSet as the latest revision.
func TestRollbackContinuesAReplicaSet(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(2)
	e.awaitRollout()
	first := e.replicaSets()["a"]
	e.setImage("b")
	e.awaitRollout()
	e.setImage("a")
	d := e.awaitRollout()
	sets := e.replicaSets()
	if sets["a"].UID != first.UID || len(sets) != 2 || *sets["b"].Spec.Replicas != 0 {
		t.Errorf("ReplicaSets %v", slices.Collect(maps.Keys(sets)))
	}
	got := []string{d.Annotations["deployment.kubernetes.io/revision"], sets["a"].Annotations["deployment.kubernetes.io/revision"],
		sets["a"].Annotations["deployment.kubernetes.io/revision-history"], sets["b"].Annotations["deployment.kubernetes.io/revision"]}
	if diff := cmp.Diff([]string{"3", "3", "1", "2"}, got); diff != "" {
		t.Error(diff)
	}
}

// Old pods that are being deleted delay the new ones.
func TestRecreateEndsOldPodsFirst(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(2, func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType })
	e.awaitRollout()
	old := e.appPods()
	for i := range old {
		e.bind(&old[i])
	}
	e.setImage("b")
	e.await("two terminating pods", func(context.Context) bool {
		d := e.deployment()
		return d.Status.ObservedGeneration == d.Generation && d.Status.Replicas == 0 && *d.Status.TerminatingReplicas == 2
	})
	e.endPod(old[0].Name)
	e.await("one terminating pod", func(context.Context) bool { return *e.deployment().Status.TerminatingReplicas == 1 })
	if sets := e.replicaSets(); sets["b"] != nil {
		t.Error("a new ReplicaSet exists beside old pods")
	}
	e.endPod(old[1].Name)
	e.awaitRollout()
}

// While a Deployment is paused, its size changes, but not its template.
func TestPausedDeploymentDoesNotRollOut(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(1)
	e.awaitRollout()
	e.patchDeployment(`{"spec":{"paused":true}}`)
	if status := e.awaitProgress("DeploymentPaused: Deployment is paused"); status != corev1.ConditionUnknown {
		t.Errorf("status %s", status)
	}
	e.setImage("b")
	e.patchDeployment(`{"spec":{"replicas":3}}`)
	e.awaitReady("three old pods", func(context.Context) bool { return e.deployment().Status.AvailableReplicas == 3 })
	if sets := e.replicaSets(); len(sets) != 1 {
		t.Errorf("ReplicaSets %v", slices.Collect(maps.Keys(sets)))
	}
	e.patchDeployment(`{"spec":{"paused":false}}`)
	e.awaitRollout()
	if image := e.appPods()[0].Spec.Containers[0].Image; image != "b" {
		t.Errorf("image %s", image)
	}
}

func TestRevisionHistoryLimit(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(1, func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = new(int32(2)) })
	for _, image := range []string{"a", "b", "c", "d", "e"} {
		e.setImage(image)
		e.awaitRollout()
	}
	e.await("two old ReplicaSets", func(context.Context) bool {
		return cmp.Equal([]string{"c", "d", "e"}, slices.Sorted(maps.Keys(e.replicaSets())))
	})
}

func TestProgressDeadline(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(1, func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = new(int32(1)) })
	e.await("a ReplicaSet", func(context.Context) bool { return len(e.replicaSets()) == 1 })
	if status := e.awaitProgress(fmt.Sprintf("ProgressDeadlineExceeded: ReplicaSet %q has timed out progressing.", e.replicaSets()["a"].Name)); status != corev1.ConditionFalse {
		t.Errorf("status %s", status)
	}
	d := e.awaitRollout()
	if text := conditionTexts(d)["Progressing"]; !strings.HasPrefix(text, "True NewReplicaSetAvailable") {
		t.Error(text)
	}
}

// A change of the size in the middle of a rollout applies to old and new pods in proportion.
func TestResizeInTheMiddleOfARollout(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(10, func(d *appsv1.Deployment) {
		d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(3)), MaxUnavailable: new(intstr.FromInt32(2))}
	})
	e.awaitRollout()
	e.setImage("b")
	sizes := func(a, b int32) func(context.Context) bool {
		return func(context.Context) bool {
			sets := e.replicaSets()
			return sets["b"] != nil && *sets["a"].Spec.Replicas == a && *sets["b"].Spec.Replicas == b
		}
	}
	e.await("a rollout that waits for new pods", sizes(8, 5))
	e.patchDeployment(`{"spec":{"replicas":15}}`) // 5 more: 3 old and 2 new ones
	e.await("more pods", sizes(11, 7))
	e.awaitRollout()
}

// The Deployment reports the failure of its ReplicaSet.
func TestDeploymentReportsFailures(t *testing.T) {
	e := startDeployments(t)
	e.limitPods("0")
	e.createDeployment(1)
	e.await("the condition ReplicaFailure", func(context.Context) bool {
		return strings.Contains(conditionTexts(e.deployment())["ReplicaFailure"], "True FailedCreate: pods \"web-")
	})
	e.unlimitPods()
	if d := e.awaitRollout(); conditionTexts(d)["ReplicaFailure"] != "" {
		t.Errorf("conditions %v", conditionTexts(d))
	}
}

// Another template with the same hash gets another name.
func TestHashCollision(t *testing.T) {
	e := startDeployments(t)
	e.createDeployment(1)
	e.awaitRollout()
	name := e.replicaSets()["a"].Name
	e.check(e.client.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	e.await("the end of the ReplicaSet", func(context.Context) bool { return len(e.replicaSets()) == 0 })
	other := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.ReplicaSetSpec{
		Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "other"}}, Spec: podTemplate("a").Spec},
	}}
	_, err := e.client.AppsV1().ReplicaSets("default").Create(t.Context(), other, metav1.CreateOptions{})
	e.check(err)
	e.createDeployment(1)
	d := e.awaitRollout()
	if *d.Status.CollisionCount != 1 || e.replicaSets()["a"].Name == name {
		t.Errorf("%d collisions", *d.Status.CollisionCount)
	}
}

// An equal Event increases the count of the first one.
func TestEqualEventsAreCounted(t *testing.T) {
	e := startDeployments(t)
	d := e.createDeployment(1)
	e.awaitRollout()
	for _, replicas := range []int{2, 1, 2} {
		e.patchDeployment(fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
		e.awaitRollout()
	}
	event := e.awaitEventText(d.UID, "ScalingReplicaSet", fmt.Sprintf("Scaled up replica set %s from 1 to 2", e.replicaSets()["a"].Name))
	if event.Count != 2 || event.FirstTimestamp.After(event.LastTimestamp.Time) {
		t.Errorf("count %d, %s to %s", event.Count, event.FirstTimestamp, event.LastTimestamp)
	}
}

// A rollout continues after a restart of the server.
func TestRolloutContinuesAfterARestart(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir(), Controllers: []string{"*", "deployment", "replicaset"}}
	e := start(t, config)
	e.createDeployment(4)
	e.awaitRollout()
	e.setImage("b")
	e.await("a rollout that waits for new pods", func(context.Context) bool { return e.deployment().Status.UpdatedReplicas == 2 })
	e.stop()
	e = start(t, config)
	e.awaitRollout()
	for _, pod := range e.appPods() {
		if pod.Spec.Containers[0].Image != "b" {
			t.Errorf("image %s", pod.Spec.Containers[0].Image)
		}
	}
}

// The controllers of two servers on one etcd may create too many pods. They delete the surplus.
func TestDeploymentOfTwoServers(t *testing.T) {
	names := []string{"*", "deployment", "replicaset"}
	first := start(t, miniapi.Config{Controllers: names, EtcdListenClientURLs: []string{"http://127.0.0.1:0"}})
	second := start(t, miniapi.Config{Controllers: names, EtcdServers: first.server.EtcdClientURLs()})
	first.createDeployment(4)
	first.awaitRollout()
	second.setImage("b")
	first.awaitReady("four new pods", func(context.Context) bool {
		return isComplete(first.deployment()) && cmp.Equal([]string{"b", "b", "b", "b"}, first.images())
	})
}

// The deletion of a Deployment deletes its ReplicaSets and pods.
func TestDeletionOfADeployment(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			e := startDeployments(t)
			e.createDeployment(3)
			e.awaitRollout()
			e.check(e.client.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &policy}))
			e.await("the deletion of the pods", func(context.Context) bool { return len(e.appPods())+len(e.replicaSets()) == 0 })
		})
	}
}
