package manifests

import (
	"cmp"
	"slices"
)

// early are the kinds that others rely on, each behind what it relies on itself.
var early = []string{
	"CustomResourceDefinition", "Namespace", "ResourceQuota", "LimitRange",
	"PriorityClass", "RuntimeClass", "StorageClass", "IngressClass",
	"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
	"ConfigMap", "Secret", "PersistentVolume", "PersistentVolumeClaim", "Service",
}

// late are those that have a say in every write that comes after them.
var late = []string{
	"APIService",
	"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// inOrder returns the objects in the order to apply them in; those of a kind stay
// as they are.
func inOrder(objects []Object) []Object {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b Object) int {
		return cmp.Compare(rank(a.GetKind()), rank(b.GetKind()))
	})
}

func rank(kind string) int {
	if i := slices.Index(early, kind); i >= 0 {
		return i
	}
	return len(early) + slices.Index(late, kind) + 1
}
