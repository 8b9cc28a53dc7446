package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Warnings returns warnings about a pod that is valid but probably not intended.
func Warnings(p *corev1.Pod) []string { return warnings(p.Annotations, &p.Spec, nil) }

// TemplateWarnings returns the warnings about a pod template.
func TemplateWarnings(t *corev1.PodTemplateSpec, at *field.Path) []string {
	return warnings(t.Annotations, &t.Spec, at)
}

func warn(at *field.Path, text string) string { return at.String() + ": " + text }

// warnings returns the warnings in the order of kube-apiserver. template is nil for a pod.
func warnings(annotations map[string]string, spec *corev1.PodSpec, template *field.Path) []string {
	at := template.Child("spec")
	list := warningsForNodes(spec, at)
	list = append(list, warningsForAnnotations(annotations, template)...)
	for i := range spec.Volumes {
		list = append(list, warningsForVolume(&spec.Volumes[i].VolumeSource, at.Child("volumes").Index(i))...)
	}
	list = append(list, warningsForPaths(spec.Volumes)...)
	list = append(list, warningsForDuplicates(spec, at)...)
	for _, name := range inBytes {
		list = append(list, warningsForFraction(spec.Overhead, name, at.Child("overhead"))...)
	}
	if podSeccomp(spec).kind == "" {
		list = append(list, warningsForAnnotation(annotations, corev1.SeccompPodAnnotationKey, noSeccomp, template)...)
	}
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		list = append(list, warningsForProfiles(annotations, spec, c, template)...)
		for _, name := range inBytes {
			list = append(list, warningsForFraction(c.Resources.Limits, name, at.Child("resources", "limits"))...)
			list = append(list, warningsForFraction(c.Resources.Requests, name, at.Child("resources", "requests"))...)
		}
		list = append(list, warningsForEnv(c.Env, at.Child("env"))...)
	})
	list = append(list, warningsForPorts(spec, at)...)
	list = append(list, warningsForPortNames(spec, at)...)
	if s := spec.TerminationGracePeriodSeconds; s != nil && *s < 0 {
		list = append(list, warn(at.Child("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1"))
	}
	list = append(list, warningsForAffinity(spec.Affinity, at.Child("affinity"))...)
	return append(list, warningsForAddresses(spec, at)...)
}

const (
	noSeccomp  = `non-functional in v1.27+; use the "seccompProfile" field instead`
	noAppArmor = `deprecated since v1.30; use the "appArmorProfile" field instead`
)

// warningsForAnnotations returns warnings about annotations without effect.
func warningsForAnnotations(annotations map[string]string, template *field.Path) []string {
	var list []string
	for _, old := range []struct{ key, text string }{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		list = append(list, warningsForAnnotation(annotations, old.key, old.text, template)...)
	}
	return list
}

func warningsForAnnotation(annotations map[string]string, key, text string, template *field.Path) []string {
	if _, ok := annotations[key]; !ok {
		return nil
	}
	return []string{warn(template.Child("metadata", "annotations").Key(key), text)}
}

// warningsForProfiles returns warnings about annotations that name profiles of a container without
// the fields that replace them. AdoptAppArmor handles the annotations of pods.
func warningsForProfiles(annotations map[string]string, spec *corev1.PodSpec, c *corev1.Container, template *field.Path) []string {
	var list []string
	if c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil {
		list = warningsForAnnotation(annotations, corev1.SeccompContainerAnnotationKeyPrefix+c.Name, noSeccomp, template)
	}
	if template == nil || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
		return list
	}
	key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
	if p := podAppArmor(spec); p != nil && equality.Semantic.DeepEqual(p, annotatedAppArmor(annotations[key])) {
		return list
	}
	return append(list, warningsForAnnotation(annotations, key, noAppArmor, template)...)
}

// warningsForDuplicates returns warnings about duplicate items.
func warningsForDuplicates(spec *corev1.PodSpec, at *field.Path) []string {
	var list []string
	taken := sets.New[string]()
	for i, alias := range spec.HostAliases {
		if taken.Has(alias.IP) {
			list = append(list, warn(at.Child("hostAliases").Index(i).Child("ip"), fmt.Sprintf("duplicate ip %q", alias.IP)))
		}
		taken.Insert(alias.IP)
	}
	taken = sets.New[string]()
	for i, secret := range spec.ImagePullSecrets {
		if taken.Has(secret.Name) {
			list = append(list, warn(at.Child("imagePullSecrets").Index(i).Child("name"), fmt.Sprintf("duplicate name %q", secret.Name)))
		}
		taken.Insert(secret.Name)
	}
	for i, secret := range spec.ImagePullSecrets {
		if secret.Name == "" {
			list = append(list, warn(at.Child("imagePullSecrets").Index(i).Child("name"), `invalid empty name ""`))
		}
	}
	return list
}

// inBytes are the resources that are measured in bytes.
var inBytes = []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// warningsForFraction returns warnings about fractions of a byte.
func warningsForFraction(list corev1.ResourceList, name corev1.ResourceName, at *field.Path) []string {
	q, ok := list[name]
	if !ok || q.MilliValue()%1000 == 0 {
		return nil
	}
	return []string{warn(at.Key(string(name)), fmt.Sprintf("fractional byte value %q is invalid, must be an integer", q.String()))}
}

// ClaimWarnings returns the warnings about the spec of a claim, or of a template of one.
func ClaimWarnings(spec *corev1.PersistentVolumeClaimSpec, at *field.Path) []string {
	list := warningsForFraction(spec.Resources.Requests, corev1.ResourceStorage, at.Child("resources", "requests"))
	return append(list, warningsForFraction(spec.Resources.Limits, corev1.ResourceStorage, at.Child("resources", "limits"))...)
}

// warningsForAddresses returns warnings about addresses that are not in canonical form.
func warningsForAddresses(spec *corev1.PodSpec, at *field.Path) []string {
	var list []string
	if c := spec.DNSConfig; c != nil {
		for i, address := range c.Nameservers {
			list = append(list, utilvalidation.GetWarningsForIP(at.Child("dnsConfig", "nameservers").Index(i), address)...)
		}
	}
	for i, alias := range spec.HostAliases {
		list = append(list, utilvalidation.GetWarningsForIP(at.Child("hostAliases").Index(i).Child("ip"), alias.IP)...)
	}
	return list
}
