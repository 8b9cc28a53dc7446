package manifests

import (
	"cmp"
	"slices"
)

// firstKinds are applied first, in this order, because other kinds depend on them.
var firstKinds = []string{
	"CustomResourceDefinition", "Namespace", "ResourceQuota", "LimitRange",
	"PriorityClass", "RuntimeClass", "StorageClass", "IngressClass",
	"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
	"ConfigMap", "Secret", "PersistentVolume", "PersistentVolumeClaim", "Service",
}

// lastKinds are applied last, because they affect all later writes.
var lastKinds = []string{
	"APIService",
	"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// inOrder returns the objects in the order to apply them. Objects of the same kind keep their
// order.
func inOrder(objects []Object) []Object {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b Object) int {
		return cmp.Compare(rank(a.GetKind()), rank(b.GetKind()))
	})
}

func rank(kind string) int {
	if i := slices.Index(firstKinds, kind); i >= 0 {
		return i
	}
	return len(firstKinds) + slices.Index(lastKinds, kind) + 1
}
