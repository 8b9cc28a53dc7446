package node

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/kubelet"
)

// refersTo reports whether a pod refers to an object of its namespace. Mirror pods, which a node
// creates by itself, refer to nothing.
func refersTo(p *corev1.Pod, resource schema.GroupResource, name string) bool {
	if _, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]; mirror || name == "" {
		return false
	}
	found := false
	visit := func(to schema.GroupResource, referred string) {
		found = found || to == resource && referred == name
	}
	visit(serviceAccounts, p.Spec.ServiceAccountName)
	kubelet.VisitReferences(&p.Spec, visit)
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.Ephemeral != nil {
			visit(persistentVolumeClaims, p.Name+"-"+v.Name)
		}
	}
	visitClaims(p, visit)
	return found
}

// visitClaims visits the resource claims of a pod. The status names the claims that were made from
// templates.
func visitClaims(p *corev1.Pod, visit kubelet.Visitor) {
	for _, claim := range p.Spec.ResourceClaims {
		if claim.ResourceClaimName != nil {
			visit(resourceClaims, *claim.ResourceClaimName)
		}
		for _, status := range p.Status.ResourceClaimStatuses {
			if claim.ResourceClaimTemplateName != nil && status.Name == claim.Name && status.ResourceClaimName != nil {
				visit(resourceClaims, *status.ResourceClaimName)
			}
		}
	}
	if extended := p.Status.ExtendedResourceClaimStatus; extended != nil {
		visit(resourceClaims, extended.ResourceClaimName)
	}
}
