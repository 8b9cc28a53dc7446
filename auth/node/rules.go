package node

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/feature"
)

// The resources whose rules differ between nodes.
var (
	secrets                = corev1.Resource("secrets")
	configMaps             = corev1.Resource("configmaps")
	persistentVolumeClaims = corev1.Resource("persistentvolumeclaims")
	persistentVolumes      = corev1.Resource("persistentvolumes")
	serviceAccounts        = corev1.Resource("serviceaccounts")
	nodes                  = corev1.Resource("nodes")
	pods                   = corev1.Resource("pods")
	resourceClaims         = resourcev1.Resource("resourceclaims")
	resourceSlices         = resourcev1.Resource("resourceslices")
	volumeAttachments      = storagev1.Resource("volumeattachments")
	csiNodes               = storagev1.Resource("csinodes")
	leases                 = coordinationv1.Resource("leases")
	certificateRequests    = certificatesv1.Resource("podcertificaterequests")
)

// commonRules are the rules of the other resources: the same for all nodes.
func commonRules(features *feature.Set) []rbacv1.PolicyRule {
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	list := []rbacv1.PolicyRule{
		rule("authentication.k8s.io", "tokenreviews", "create"),
		rule("authorization.k8s.io", "subjectaccessreviews", "create"),
		rule("authorization.k8s.io", "localsubjectaccessreviews", "create"),
		rule("", "services", "get", "list", "watch"),
		rule("", "endpoints", "get"),
		rule("", "events", "create", "update", "patch"),
		rule("events.k8s.io", "events", "create", "update", "patch"),
		rule("certificates.k8s.io", "certificatesigningrequests", "create", "get", "list", "watch"),
		rule("storage.k8s.io", "csidrivers", "get", "list", "watch"),
		rule("node.k8s.io", "runtimeclasses", "get", "list", "watch"),
	}
	if features.Enabled(feature.ClusterTrustBundle) {
		list = append(list, rule("certificates.k8s.io", "clustertrustbundles", "get", "list", "watch"))
	}
	return list
}
