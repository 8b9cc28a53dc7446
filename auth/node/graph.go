package node

import (
	"context"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// graph finds the objects that belong to a node or are used by its pods.
type graph struct {
	ctx             context.Context
	store           func(schema.GroupResource) (*registry.Store, bool)
	resourceVersion string // of all reads
	node            string
}

// reaches reports whether an object belongs to the node or is used by one of its pods.
func (g graph) reaches(resource schema.GroupResource, namespace, name string) (bool, error) {
	switch resource {
	case pods:
		return owns(g, resource, namespace, name, func(p *corev1.Pod) string { return p.Spec.NodeName })
	case volumeAttachments:
		return owns(g, resource, namespace, name, func(v *storagev1.VolumeAttachment) string { return v.Spec.NodeName })
	case certificateRequests:
		return owns(g, resource, namespace, name, func(r *certificatesv1.PodCertificateRequest) string { return string(r.Spec.NodeName) })
	case resourceSlices:
		return owns(g, resource, namespace, name, func(s *resourcev1.ResourceSlice) string {
			if s.Spec.NodeName == nil {
				return ""
			}
			return *s.Spec.NodeName
		})
	case persistentVolumes:
		volume, err := get[*corev1.PersistentVolume](g, resource, namespace, name)
		if volume == nil || err != nil {
			return false, err
		}
		return g.usesVolume(volume)
	case secrets:
		used, err := g.podUses(resource, namespace, name)
		if used || err != nil {
			return used, err
		}
		return g.volumeUsesSecret(namespace, name)
	}
	return g.podUses(resource, namespace, name)
}

// owns reports whether an object exists and names the node.
func owns[T runtime.Object](g graph, resource schema.GroupResource, namespace, name string, node func(T) string) (bool, error) {
	object, err := get[T](g, resource, namespace, name)
	if err != nil || any(object) == any(*new(T)) {
		return false, err
	}
	return node(object) == g.node, nil
}

// get returns nil if the object does not exist.
func get[T runtime.Object](g graph, resource schema.GroupResource, namespace, name string) (T, error) {
	var none T
	store, ok := g.store(resource)
	if !ok || len(path.IsValidPathSegmentName(name)) > 0 {
		return none, nil
	}
	object, err := registry.Read[T](g.ctx, store, namespace, name, g.resourceVersion)
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	return object, err
}

// podUses reports whether a pod of the node refers to an object of its namespace.
func (g graph) podUses(resource schema.GroupResource, namespace, name string) (bool, error) {
	store, ok := g.store(pods)
	if !ok || namespace == "" {
		return false, nil
	}
	list, err := registry.ReadAll[*corev1.Pod](g.ctx, store, registry.ListRequest{
		Namespace: namespace, ResourceVersion: g.resourceVersion,
		Field: fields.OneTermEqualSelector("spec.nodeName", g.node),
	})
	return slices.ContainsFunc(list, func(p *corev1.Pod) bool { return refersTo(p, resource, name) }), err
}

// usesVolume reports whether a pod of the node uses the claim that a volume is bound to.
func (g graph) usesVolume(v *corev1.PersistentVolume) (bool, error) {
	claim := v.Spec.ClaimRef
	if claim == nil {
		return false, nil
	}
	return g.podUses(persistentVolumeClaims, claim.Namespace, claim.Name)
}

// volumeUsesSecret reports whether a volume that a pod of the node uses refers to a secret.
func (g graph) volumeUsesSecret(namespace, name string) (bool, error) {
	store, ok := g.store(persistentVolumes)
	if !ok {
		return false, nil
	}
	list, err := registry.ReadAll[*corev1.PersistentVolume](g.ctx, store, registry.ListRequest{ResourceVersion: g.resourceVersion})
	if err != nil {
		return false, err
	}
	secret := corev1.SecretReference{Namespace: namespace, Name: name}
	for _, volume := range list {
		if !slices.Contains(secretsOf(volume), secret) {
			continue
		}
		if used, err := g.usesVolume(volume); used || err != nil {
			return used, err
		}
	}
	return false, nil
}
