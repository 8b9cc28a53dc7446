package statefulset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/pods"
	"github.com/miniapi/miniapi/controllers/revisions"
)

// ordinal returns the ordinal in the name of a pod, -1 if the pod has no name of the set.
func ordinal(set *appsv1.StatefulSet, pod *corev1.Pod) int {
	suffix, ok := strings.CutPrefix(pod.Name, set.Name+"-")
	n, err := strconv.ParseInt(suffix, 10, 32)
	if !ok || err != nil || strconv.FormatInt(n, 10) != suffix || n < 0 {
		return -1
	}
	return int(n)
}

// ordinals returns the first ordinal of the set, and the last ordinal plus 1.
func ordinals(set *appsv1.StatefulSet) (first, end int) {
	if set.Spec.Ordinals != nil {
		first = int(set.Spec.Ordinals.Start)
	}
	return first, first + int(*set.Spec.Replicas)
}

// isMember reports whether the ordinal of a pod belongs to the replicas of the set.
func isMember(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	first, end := ordinals(set)
	n := ordinal(set, pod)
	return first <= n && n < end
}

// newPod returns the pod of an ordinal. Below the partition it has the current revision.
func (r *rollout) newPod(ordinal int) (*corev1.Pod, error) {
	revision := r.update
	first, _ := ordinals(r.set)
	if ordinal < first+r.partition() {
		revision = r.current
	}
	template, err := revisions.Template(revision)
	if err != nil {
		return nil, err
	}
	pod := pods.FromTemplate(template, r.owner)
	pod.Name = fmt.Sprintf("%s-%d", r.set.Name, ordinal)
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, r.set.Spec.ServiceName
	setIdentity(pod, ordinal)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.StatefulSetRevisionLabel, revision.Name)
	r.setVolumes(pod)
	return pod, nil
}

// setIdentity sets the labels of a pod with its name and its ordinal.
func setIdentity(pod *corev1.Pod, ordinal int) {
	metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.StatefulSetPodNameLabel, pod.Name)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.PodIndexLabel, strconv.Itoa(ordinal))
}

// setVolumes adds the claims of a pod to its volumes, instead of volumes of the same names.
func (r *rollout) setVolumes(pod *corev1.Pod) {
	var volumes []corev1.Volume
	for _, template := range r.set.Spec.VolumeClaimTemplates {
		volumes = append(volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(template.Name, pod)},
		}})
	}
	for _, volume := range pod.Spec.Volumes {
		isClaim := func(claim corev1.Volume) bool { return claim.Name == volume.Name }
		if !slices.ContainsFunc(volumes, isClaim) {
			volumes = append(volumes, volume)
		}
	}
	pod.Spec.Volumes = volumes
}

// create creates a pod after its claims.
func (r *rollout) create(ctx context.Context, pod *corev1.Pod) error {
	if err := r.createClaims(ctx, pod); err != nil {
		r.reportPod(ctx, "Create", pod, err)
		return err
	}
	created, err := r.pods.Create(ctx, pod)
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	if err == nil {
		err = r.setClaimOwners(ctx, created)
	}
	r.reportPod(ctx, "Create", pod, err)
	return err
}

func (r *rollout) delete(ctx context.Context, pod *corev1.Pod) error {
	err := r.pods.Delete(ctx, pod)
	r.reportPod(ctx, "Delete", pod, err)
	return err
}

func (r *rollout) reportPod(ctx context.Context, action string, pod *corev1.Pod, err error) {
	r.report(ctx, action, "Pod "+pod.Name, err)
}
