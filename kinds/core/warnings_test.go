package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestWarnings(t *testing.T) {
	volume := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRecycle}}
	volume.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "fast"}
	pod := &corev1.Pod{}
	pod.Name = "a.b"
	for _, tc := range []struct {
		about     string
		got, want []string
	}{
		{"deprecated volume fields", warningsForVolume(volume), []string{
			`metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead`,
			`spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.`,
		}},
		{"a key without a certificate", warningsForSecret(&corev1.Secret{Type: corev1.SecretTypeTLS}), []string{"tls: failed to find any PEM data in certificate input"}},
		{"no key", warningsForSecret(&corev1.Secret{}), nil},
		{"an unused field of nodes", warningsForNode(&corev1.Node{Spec: corev1.NodeSpec{DoNotUseExternalID: "a"}}), []string{
			"spec.externalID: this field is deprecated, and is unused by Kubernetes",
		}},
		{"addresses in non-canonical form", warningsForEndpoints(&corev1.Endpoints{Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "FD00::1"}}}}}), []string{
			`subsets[0].addresses[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`,
		}},
		{"external addresses of a service", warningsForService(&corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.7", ExternalIPs: []string{"192.0.2.7"}}}), []string{
			"spec.externalIPs is deprecated and may no longer be implemented in some clusters",
		}},
		{"fields that a headless service ignores", warningsForService(&corev1.Service{Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "None", ExternalIPs: []string{"192.0.2.7"}, SessionAffinity: corev1.ServiceAffinityClientIP,
		}}), []string{"spec.externalIPs is ignored for headless services", "spec.SessionAffinity is ignored for headless services"}},
		{"load balancer address in non-canonical form", warningsForServiceStatus(&corev1.Service{Status: corev1.ServiceStatus{
			LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{Hostname: "a"}, {IP: "FD00::1"}}},
		}}), []string{`status.loadBalancer.ingress[1]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`}},
		{"fields without effect on headless services", warningsForService(&corev1.Service{Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone, LoadBalancerIP: "10.0.0.1", SessionAffinity: corev1.ServiceAffinityClientIP, ExternalName: "a",
		}}), []string{
			"spec.loadBalancerIP is ignored for headless services",
			"spec.SessionAffinity is ignored for headless services",
			`spec.externalName is ignored when spec.type is not "ExternalName"`,
		}},
		{"deprecated service fields", warningsForService(&corev1.Service{Spec: corev1.ServiceSpec{
			ExternalIPs: []string{"FD00::1"}, TrafficDistribution: new(corev1.ServiceTrafficDistributionPreferClose),
		}}), []string{
			`spec.externalIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`,
			"spec.externalIPs is deprecated and may no longer be implemented in some clusters",
			`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`,
		}},
		{"external IPs of an external name", warningsForService(&corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalIPs: []string{"10.0.0.1"}}}), []string{
			`spec.externalIPs is ignored when spec.type is "ExternalName"`,
		}},
		{"a pod name that is not a DNS label", warningsForPod(pod), []string{"metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; " +
			"a DNS label is recommended: [must not contain dots]"}},
	} {
		t.Run(tc.about, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
