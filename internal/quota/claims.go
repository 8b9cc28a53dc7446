package quota

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// classSuffix separates the name of a storage class from a resource name in a quota.
const classSuffix = ".storageclass.storage.k8s.io/"

func claimEvaluator() Evaluator {
	count := objectCountName(corev1.Resource("persistentvolumeclaims"))
	return Evaluator{
		updates: updatesOf("", "status"),
		counts: func(name corev1.ResourceName) bool {
			if _, rest, ok := strings.Cut(string(name), classSuffix); ok {
				name = corev1.ResourceName(rest)
			}
			return name == count || name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
		},
		inScope: func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool {
			return claimInScope(scope, obj.(*corev1.PersistentVolumeClaim))
		},
		usage: func(obj runtime.Object, _ time.Time) corev1.ResourceList {
			claim := obj.(*corev1.PersistentVolumeClaim)
			used := corev1.ResourceList{count: newQuantity(1), corev1.ResourcePersistentVolumeClaims: newQuantity(1)}
			if size, ok := sizeOf(claim); ok {
				used[corev1.ResourceRequestsStorage] = size
			}
			if class := StorageClassOf(claim); class != "" {
				for _, name := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
					if amount, ok := used[name]; ok {
						used[corev1.ResourceName(class+classSuffix)+name] = amount
					}
				}
			}
			return used
		},
	}
}

// claimInScope reports whether the scope VolumeAttributesClass selects one of the classes of a
// claim: the requested, the current and the target class.
func claimInScope(scope corev1.ScopedResourceSelectorRequirement, claim *corev1.PersistentVolumeClaim) bool {
	if scope.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
		return false
	}
	classes := []string{ptr.Deref(claim.Spec.VolumeAttributesClassName, ""), ptr.Deref(claim.Status.CurrentVolumeAttributesClassName, "")}
	if modification := claim.Status.ModifyVolumeStatus; modification != nil {
		classes = append(classes, modification.TargetVolumeAttributesClassName)
	}
	classes = slices.DeleteFunc(classes, func(class string) bool { return class == "" })
	if len(classes) == 0 {
		return selects(scope, "")
	}
	return slices.ContainsFunc(classes, func(class string) bool { return selects(scope, class) })
}

// sizeOf returns the requested size of a claim, or the allocated size if that is larger, in whole
// bytes. ok is false if the claim requests none.
func sizeOf(claim *corev1.PersistentVolumeClaim) (size resource.Quantity, ok bool) {
	size, ok = claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !ok {
		return size, false
	}
	if allocated, ok := claim.Status.AllocatedResources[corev1.ResourceStorage]; ok && allocated.Cmp(size) > 0 {
		size = allocated
	}
	// RoundUp may change the format of a whole number, too.
	if rounded := size.DeepCopy(); !rounded.RoundUp(0) {
		return rounded, true
	}
	return size, true
}

// StorageClassOf returns the name of the storage class of a claim, and "" if it has none.
func StorageClassOf(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}
