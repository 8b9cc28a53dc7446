package core

import (
	"crypto/tls"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// What clients are warned of, of the smaller kinds.

func warnOfPodTemplate(t *corev1.PodTemplate) []string {
	return podspec.TemplateWarnings(&t.Template, field.NewPath("template"))
}

func warnOfNewReplicationController(r *corev1.ReplicationController) []string {
	return append(kind.WarnOfName(r.Name), warnOfReplicationController(r)...)
}

func warnOfReplicationController(r *corev1.ReplicationController) []string {
	return podspec.TemplateWarnings(r.Spec.Template, field.NewPath("spec", "template"))
}

// warnOfReplicationControllerUpdate is about the template that was there, as
// kube-apiserver's are.
func warnOfReplicationControllerUpdate(r, old *corev1.ReplicationController) []string {
	if r.Generation == old.Generation {
		return nil
	}
	return warnOfReplicationController(old)
}

func warnOfClass(annotations map[string]string) []string {
	if _, ok := annotations[corev1.BetaStorageClassAnnotation]; !ok {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(corev1.BetaStorageClassAnnotation)
	return []string{at.String() + `: deprecated since v1.8; use "storageClassName" attribute instead`}
}

func warnOfVolume(v *corev1.PersistentVolume) []string {
	return append(warnOfClass(v.Annotations), podspec.VolumeWarnings(&v.Spec, field.NewPath("spec"))...)
}

func warnOfClaim(c *corev1.PersistentVolumeClaim) []string {
	return append(warnOfClass(c.Annotations), podspec.ClaimWarnings(&c.Spec, field.NewPath("spec"))...)
}

func warnOfNode(n *corev1.Node) []string {
	var warnings []string
	if n.Spec.ConfigSource != nil {
		warnings = append(warnings, "spec.configSource: the feature is removed")
	}
	if n.Spec.DoNotUseExternalID != "" {
		warnings = append(warnings, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range n.Spec.PodCIDRs {
		warnings = append(warnings, utilvalidation.GetWarningsForCIDR(field.NewPath("spec", "podCIDRs").Index(i), cidr)...)
	}
	return warnings
}

func warnOfEndpoints(e *corev1.Endpoints) []string {
	var warnings []string
	check := func(addresses []corev1.EndpointAddress, at *field.Path) {
		for i := range addresses {
			warnings = append(warnings, utilvalidation.GetWarningsForIP(at.Index(i).Child("ip"), addresses[i].IP)...)
		}
	}
	for i := range e.Subsets {
		at := field.NewPath("subsets").Index(i)
		check(e.Subsets[i].Addresses, at.Child("addresses"))
		check(e.Subsets[i].NotReadyAddresses, at.Child("notReadyAddresses"))
	}
	return warnings
}

// warnOfSecret is about keys that are not those of their certificates.
func warnOfSecret(s *corev1.Secret) []string {
	if s.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
