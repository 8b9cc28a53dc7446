package bootstrap

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/internal/serviceip"
	"github.com/miniapi/miniapi/kinds/core"
)

func minimalObjects(address netip.Addr, port int) []runtime.Object {
	return []runtime.Object{
		namespace(metav1.NamespaceDefault),
		namespace(metav1.NamespaceSystem),
		namespace(metav1.NamespacePublic),
		namespace(corev1.NamespaceNodeLease),
		kubernetesService(address, port),
		serviceip.NewIPAddress(address, metav1.NamespaceDefault, "kubernetes"),
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
}

func kubernetesMeta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}
}

func kubernetesService(address netip.Addr, port int) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: kubernetesMeta(),
		Spec: corev1.ServiceSpec{
			ClusterIP:             address.String(),
			ClusterIPs:            []string{address.String()},
			InternalTrafficPolicy: ptr.To(corev1.ServiceInternalTrafficPolicyCluster),
			IPFamilies:            []corev1.IPFamily{core.FamilyOf(address.String())},
			IPFamilyPolicy:        ptr.To(corev1.IPFamilyPolicySingleStack),
			Ports: []corev1.ServicePort{{
				Name:       "https",
				Port:       443,
				Protocol:   corev1.ProtocolTCP,
				TargetPort: intstr.FromInt(port),
			}},
			SessionAffinity: corev1.ServiceAffinityNone,
			Type:            corev1.ServiceTypeClusterIP,
		},
	}
	service.Labels = map[string]string{"component": "apiserver", "provider": "kubernetes"}
	return service
}
