package plugin

import (
	"context"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/miniapi/miniapi/internal/kubelet"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// NodeRestriction limits the writes of nodes to their own objects: their Node, Lease, CSINode and
// ResourceSlices, their pods, and tokens and certificates of these pods. The writes of other users
// are not limited. The step reads nodes, pods, service accounts, volumes and CSI drivers.
func NodeRestriction(features *feature.Set) registry.AdmissionStep {
	rules := nodeRules()
	return registry.AdmissionStep{Name: "NodeRestriction", Admit: func(ctx context.Context, a *registry.Attributes) error {
		node, isNode := kubelet.NodeOf(registry.UserFrom(ctx))
		if !isNode || a.Operation == registry.OperationConnect {
			return nil
		}
		w := nodeWrite{Attributes: a, node: node, features: features}
		if node == "" {
			return w.forbid("could not determine node from user %q", registry.UserFrom(ctx).Username)
		}
		if rule, ok := rules[a.Resource.GroupResource()]; ok {
			return rule(w, ctx)
		}
		return nil
	}}
}

// nodeWrite is a write of a node.
type nodeWrite struct {
	*registry.Attributes
	node     string
	features *feature.Set
}

func (w nodeWrite) forbid(format string, args ...any) error {
	return forbidden(w.Attributes, fmt.Errorf(format, args...))
}

// nodeRules returns the rules of the resources that are restricted.
func nodeRules() map[schema.GroupResource]func(nodeWrite, context.Context) error {
	return map[schema.GroupResource]func(nodeWrite, context.Context) error{
		corev1.Resource("pods"):                               nodeWrite.pod,
		corev1.Resource("nodes"):                              nodeWrite.ownNode,
		corev1.Resource("persistentvolumeclaims"):             nodeWrite.claim,
		corev1.Resource("serviceaccounts"):                    nodeWrite.token,
		coordinationv1.Resource("leases"):                     nodeWrite.lease,
		storagev1.Resource("csinodes"):                        nodeWrite.csiNode,
		resourcev1.Resource("resourceslices"):                 nodeWrite.slice,
		certificatesv1.Resource("certificatesigningrequests"): nodeWrite.signingRequest,
		certificatesv1.Resource("podcertificaterequests"):     nodeWrite.podCertificate,
	}
}

// readFor returns an object of another resource than the one that is written. NotFound names the
// resource in the singular, as the caches of kube-apiserver do.
func readFor[T runtime.Object](ctx context.Context, w nodeWrite, resource schema.GroupResource, namespace, name string) (T, error) {
	store, err := registry.Require(w.Catalog, resource)
	if err != nil {
		var none T
		return none, err
	}
	object, err := getObject[T](ctx, store, namespace, name)
	if apierrors.IsNotFound(err) {
		resource.Resource = strings.TrimSuffix(resource.Resource, "s")
		err = apierrors.NewNotFound(resource, name)
	}
	return object, err
}

// names reports whether the written object has the name of the node.
func (w nodeWrite) names() bool {
	if w.Operation != registry.OperationCreate {
		return w.Name == w.node
	}
	accessor, err := meta.Accessor(w.Object)
	return err == nil && accessor.GetName() == w.node
}

func (w nodeWrite) lease(context.Context) error {
	if w.Namespace != corev1.NamespaceNodeLease {
		return w.forbid("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
	}
	if !w.names() {
		return w.forbid("can only access node lease with the same name as the requesting node")
	}
	return nil
}

func (w nodeWrite) csiNode(context.Context) error {
	switch {
	case !w.names():
		return w.forbid("can only access CSINode with the same name as the requesting node")
	case w.Subresource != "status":
		return nil
	case !w.features.Enabled(feature.CSIVolumeHealth):
		return w.forbid("CSIVolumeHealth feature gate is disabled")
	}
	node, old, ok := updatedBy[*storagev1.CSINode](w.Attributes, "status")
	if !ok {
		return w.forbid("unexpected operation %q", w.Operation)
	}
	if !equality.Semantic.DeepEqual(node.Spec, old.Spec) {
		return w.forbid("node %q is not allowed to modify CSINode spec via status", w.node)
	}
	return nil
}

// slice limits creations and deletions to the ResourceSlices of the node. The authorizer cannot: it
// decides without the content of new objects and of collections.
func (w nodeWrite) slice(context.Context) error {
	isOwn := func(obj runtime.Object) bool {
		slice, ok := obj.(*resourcev1.ResourceSlice)
		return ok && slice.Spec.NodeName != nil && *slice.Spec.NodeName == w.node
	}
	switch {
	case w.Operation == registry.OperationCreate && !isOwn(w.Object):
		return w.forbid("can only create ResourceSlice with the same NodeName as the requesting node")
	case w.Operation == registry.OperationDelete && !isOwn(w.OldObject):
		return w.forbid("can only delete ResourceSlice with the same NodeName as the requesting node")
	}
	return nil
}

// claim allows changes of the capacity, the conditions and the resizes of a claim.
func (w nodeWrite) claim(context.Context) error {
	if w.Subresource != "status" {
		return w.forbid("may only update PVC status")
	}
	claim, old, ok := updatedBy[*corev1.PersistentVolumeClaim](w.Attributes, "status")
	if !ok {
		return w.forbid("unexpected operation %q", w.Operation)
	}
	fixed, oldFixed := w.fixedFields(claim), w.fixedFields(old)
	if equality.Semantic.DeepEqual(fixed, oldFixed) {
		return nil
	}
	return w.forbid("node %q is not allowed to update fields other than status.quantity and status.conditions: %v",
		w.node, diff.Diff(oldFixed, fixed))
}

// fixedFields returns a copy of a claim without the fields that a node may change.
func (w nodeWrite) fixedFields(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	claim = claim.DeepCopy()
	claim.TypeMeta = metav1.TypeMeta{}
	claim.ResourceVersion, claim.ManagedFields = "", nil
	claim.Status.Capacity, claim.Status.Conditions = nil, nil
	if w.features.Enabled(feature.RecoverVolumeExpansionFailure) {
		claim.Status.AllocatedResources, claim.Status.AllocatedResourceStatuses = nil, nil
	}
	return claim
}

// signingRequest checks the subject of requests for certificates of kubelets.
func (w nodeWrite) signingRequest(context.Context) error {
	request, ok := created[*certificatesv1.CertificateSigningRequest](w.Attributes)
	if !ok || w.features.Enabled(feature.AllowInsecureKubeletCertificateSigningRequests) {
		return nil
	}
	switch request.Spec.SignerName {
	case certificatesv1.KubeletServingSignerName, certificatesv1.KubeAPIServerClientKubeletSignerName:
	default:
		return nil
	}
	parsed, err := parseRequest(request.Spec.Request)
	if err != nil {
		return w.forbid("unable to parse csr: %w", err)
	}
	if parsed.Subject.CommonName != kubelet.UserPrefix+w.node {
		return w.forbid("can only create a node CSR with CN=%s%s", kubelet.UserPrefix, w.node)
	}
	return nil
}
