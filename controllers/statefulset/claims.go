package statefulset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// claimName returns the name of the claim of a pod for a template.
func claimName(template string, pod *corev1.Pod) string { return template + "-" + pod.Name }

// createClaims creates the missing claims of a pod. It is an error if a claim is being deleted, or
// is going to be deleted with a former pod of the name.
func (r *rollout) createClaims(ctx context.Context, pod *corev1.Pod) error {
	var errs []error
	for _, template := range r.set.Spec.VolumeClaimTemplates {
		name := claimName(template.Name, pod)
		claim := r.claimsByName[name]
		switch {
		case claim == nil:
			errs = append(errs, r.createClaim(ctx, &template, pod))
		case claim.DeletionTimestamp != nil || pod.UID == "" && isOwnedByName(claim, podKind(), pod.Name):
			errs = append(errs, apierrors.NewConflict(r.claims.Resource, name, fmt.Errorf("pvc %s is being deleted", name)))
		}
	}
	return errors.Join(errs...)
}

func (r *rollout) createClaim(ctx context.Context, template *corev1.PersistentVolumeClaim, pod *corev1.Pod) error {
	claim := template.DeepCopy()
	claim.TypeMeta = metav1.TypeMeta{}
	claim.Namespace, claim.Name = r.set.Namespace, claimName(template.Name, pod)
	if claim.Labels == nil {
		claim.Labels = map[string]string{}
	}
	maps.Copy(claim.Labels, r.set.Spec.Selector.MatchLabels)
	_, err := r.claims.Create(ctx, claim)
	if err == nil {
		r.events.Normal(ctx, r.owner.ObjectReference(), "SuccessfulCreate",
			fmt.Sprintf("Create Claim %s Pod %s in StatefulSet %s success", claim.Name, pod.Name, r.set.Name))
		return nil
	}
	if !apierrors.IsAlreadyExists(err) {
		r.report(ctx, "Create", fmt.Sprintf("Claim %s for Pod %s", claim.Name, pod.Name), err)
	}
	return fmt.Errorf("failed to create PVC %s: %w", claim.Name, err)
}

// setClaimOwners makes the set or the pod the owner of the claims of a pod, so that the retention
// policy decides whether they are deleted with it. Claims that were created in this reconciliation
// get their owner in the next one.
func (r *rollout) setClaimOwners(ctx context.Context, pod *corev1.Pod) error {
	var errs []error
	for _, template := range r.set.Spec.VolumeClaimTemplates {
		claim := r.claimsByName[claimName(template.Name, pod)]
		if claim == nil || r.isForeign(claim, pod) {
			continue
		}
		_, err := r.claims.Update(ctx, claim, func(claim *corev1.PersistentVolumeClaim) { r.setOwners(claim, pod) })
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// isForeign reports whether a claim belongs to a former set or pod of the name. It stays as it is.
func (r *rollout) isForeign(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return isReference(ref, kind(), r.set.Name) && ref.UID != r.set.UID ||
			isReference(ref, podKind(), pod.Name) && ref.UID != pod.UID
	})
}

// setOwners sets the owner of a claim. A claim with another controller keeps only that.
func (r *rollout) setOwners(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) {
	claim.OwnerReferences = slices.DeleteFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return ref.UID == r.set.UID || ref.UID == pod.UID
	})
	if metav1.GetControllerOfNoCopy(claim) != nil {
		return
	}
	policy := appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	if r.set.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		policy = *r.set.Spec.PersistentVolumeClaimRetentionPolicy
	}
	const deleted = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	switch {
	case policy.WhenScaled == deleted && !isMember(r.set, pod):
		claim.OwnerReferences = append(claim.OwnerReferences, *metav1.NewControllerRef(pod, podKind()))
	case policy.WhenDeleted == deleted:
		claim.OwnerReferences = append(claim.OwnerReferences, r.owner.ControllerReference())
	}
}

func podKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Pod") }

func isOwnedByName(obj metav1.Object, kind schema.GroupVersionKind, name string) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return isReference(ref, kind, name)
	})
}

func isReference(ref metav1.OwnerReference, kind schema.GroupVersionKind, name string) bool {
	return ref.APIVersion == kind.GroupVersion().String() && ref.Kind == kind.Kind && ref.Name == name
}
