package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// podCertificate allows requests for certificates of a pod that runs on the node and has a volume
// for them.
func (w nodeWrite) podCertificate(ctx context.Context) error {
	switch {
	case !w.features.Enabled(feature.PodCertificateRequest):
		return w.forbid("PodCertificateRequest feature gate is disabled")
	case w.Operation != registry.OperationCreate:
		return w.forbid("unexpected operation %v", w.Operation)
	case w.Subresource != "":
		return w.forbid("unexpected subresource %v", w.Subresource)
	}
	request := w.Object.(*certificatesv1.PodCertificateRequest)
	if err := w.checkNode(ctx, request); err != nil {
		return err
	}
	pod, err := w.checkPod(ctx, request)
	if err != nil {
		return err
	}
	if err := w.checkAccount(ctx, request, pod); err != nil {
		return err
	}
	return w.checkSigner(ctx, request, pod)
}

// namedObject reads an object that a request names. The error for a missing object is not a 404 or
// a 403, because the node may retry: its watch may be ahead of the server.
func namedObject[T runtime.Object](ctx context.Context, w nodeWrite, resource schema.GroupResource, kind, name string) (T, error) {
	namespace, shown := "", name
	if resource != corev1.Resource("nodes") {
		namespace, shown = w.Namespace, w.Namespace+"/"+name
	}
	object, err := readFor[T](ctx, w, resource, namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return object, fmt.Errorf("while retrieving %s %q named in the PodCertificateRequest: %v", kind, shown, err)
	case err != nil:
		return object, w.forbid("while retrieving %s %q named in the PodCertificateRequest: %w", kind, shown, err)
	}
	return object, nil
}

func (w nodeWrite) checkNode(ctx context.Context, request *certificatesv1.PodCertificateRequest) error {
	name := string(request.Spec.NodeName)
	if name != w.node {
		return w.forbid("PodCertificateRequest.Spec.NodeName=%q, which is not the requesting node %q", name, w.node)
	}
	node, err := namedObject[*corev1.Node](ctx, w, corev1.Resource("nodes"), "node", name)
	if err != nil {
		return err
	}
	if node.UID != request.Spec.NodeUID {
		return fmt.Errorf("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)",
			w.Namespace+"/"+request.Spec.PodName, request.Spec.NodeUID, node.UID)
	}
	return nil
}

func (w nodeWrite) checkPod(ctx context.Context, request *certificatesv1.PodCertificateRequest) (*corev1.Pod, error) {
	pod, err := namedObject[*corev1.Pod](ctx, w, corev1.Resource("pods"), "pod", request.Spec.PodName)
	if err != nil {
		return nil, err
	}
	name := w.Namespace + "/" + request.Spec.PodName
	if request.Spec.PodUID != pod.UID {
		return nil, fmt.Errorf("PodCertificateRequest for pod %q contains pod UID (%q) which differs from running pod %q",
			name, request.Spec.PodUID, string(pod.UID))
	}
	if pod.Spec.NodeName != w.node {
		return nil, w.forbid("pod %q is not running on node %q named in the PodCertificateRequest", name, w.node)
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return nil, w.forbid("pod %q is a mirror pod", name)
	}
	return pod, nil
}

func (w nodeWrite) checkAccount(ctx context.Context, request *certificatesv1.PodCertificateRequest, pod *corev1.Pod) error {
	name := w.Namespace + "/" + pod.Name
	if request.Spec.ServiceAccountName != pod.Spec.ServiceAccountName {
		return w.forbid("PodCertificateRequest for pod %q contains serviceAccountName (%q) that differs from running pod (%q)",
			name, request.Spec.ServiceAccountName, pod.Spec.ServiceAccountName)
	}
	account, err := namedObject[*corev1.ServiceAccount](ctx, w, corev1.Resource("serviceaccounts"), "service account", request.Spec.ServiceAccountName)
	if err != nil {
		return err
	}
	if request.Spec.ServiceAccountUID != account.UID {
		return fmt.Errorf("PodCertificateRequest for pod %q names service account UID %q, which differs from the running service account (%q)",
			name, request.Spec.ServiceAccountUID, account.UID)
	}
	return nil
}

// checkSigner requires that a volume of the pod has certificates of the signer, or that the node is
// authorized for it. Permissions name signers as the names of ClusterTrustBundles do.
func (w nodeWrite) checkSigner(ctx context.Context, request *certificatesv1.PodCertificateRequest, pod *corev1.Pod) error {
	signer := request.Spec.SignerName
	if slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return hasCertificateOf(v, signer) }) {
		return nil
	}
	allowed, err := w.authorized(ctx, "request-serviceaccounts-podcertificate-signer",
		strings.ReplaceAll(signer, "/", ":"), request.Spec.ServiceAccountName)
	switch {
	case allowed:
		return nil
	case err != nil:
		return w.forbid("error authorizing %s to request podcertificaterequests for signer %q: %w", registry.UserFrom(ctx).Username, signer, err)
	}
	return w.forbid("pod %q does not mount a podCertificate projected volume for signer %q", w.Namespace+"/"+pod.Name, signer)
}

func hasCertificateOf(v corev1.Volume, signer string) bool {
	return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.PodCertificate != nil && s.PodCertificate.SignerName == signer
	})
}
