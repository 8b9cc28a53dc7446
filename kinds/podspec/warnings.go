package podspec

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Warnings are about what is valid in a pod but hardly meant.
func Warnings(p *corev1.Pod) []string { return warnings(p.Annotations, &p.Spec, nil) }

// TemplateWarnings are those about a pod template.
func TemplateWarnings(t *corev1.PodTemplateSpec, at *field.Path) []string {
	list := warnings(t.Annotations, &t.Spec, at)
	visitContainers(&t.Spec, nil, func(c *corev1.Container, _ *field.Path) {
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		if _, ok := t.Annotations[key]; ok && appArmorProfile(&t.Spec, c).kind == "" {
			list = append(list, warn(at.Child("metadata", "annotations").Key(key), `deprecated since v1.30; use the "appArmorProfile" field instead`))
		}
	})
	return list
}

func warn(at *field.Path, text string) string { return at.String() + ": " + text }

func warnings(annotations map[string]string, spec *corev1.PodSpec, at *field.Path) []string {
	list := warnOfNodes(spec, at.Child("spec"))
	list = append(list, warnOfAnnotations(annotations, spec, at.Child("metadata", "annotations"))...)
	at = at.Child("spec")
	for i := range spec.Volumes {
		list = append(list, warnOfVolume(&spec.Volumes[i].VolumeSource, at.Child("volumes").Index(i))...)
	}
	list = append(list, warnOfPaths(spec.Volumes)...)
	list = append(list, warnOfDuplicates(spec, at)...)
	list = append(list, warnOfFractions(spec.Overhead, at.Child("overhead"))...)
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		list = append(list, warnOfFractions(c.Resources.Limits, at.Child("resources", "limits"))...)
		list = append(list, warnOfFractions(c.Resources.Requests, at.Child("resources", "requests"))...)
		list = append(list, warnOfEnv(c.Env, at.Child("env"))...)
	})
	list = append(list, warnOfPorts(spec, at)...)
	list = append(list, warnOfPortNames(spec, at)...)
	if s := spec.TerminationGracePeriodSeconds; s != nil && *s < 0 {
		list = append(list, warn(at.Child("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1"))
	}
	list = append(list, warnOfAffinity(spec.Affinity, at.Child("affinity"))...)
	return append(list, warnOfAddresses(spec, at)...)
}

// warnOfAnnotations is about annotations that mean nothing any more.
func warnOfAnnotations(annotations map[string]string, spec *corev1.PodSpec, at *field.Path) []string {
	if len(annotations) == 0 {
		return nil
	}
	var list []string
	old := func(key, text string) {
		if _, ok := annotations[key]; ok {
			list = append(list, warn(at.Key(key), text))
		}
	}
	old("scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`)
	old("security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`)
	old("security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`)
	const seccomp = `non-functional in v1.27+; use the "seccompProfile" field instead`
	if podSeccomp(spec).kind == "" {
		old(corev1.SeccompPodAnnotationKey, seccomp)
	}
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		if c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil {
			old(corev1.SeccompContainerAnnotationKeyPrefix+c.Name, seccomp)
		}
	})
	return list
}

// warnOfDuplicates is about lists whose items should differ.
func warnOfDuplicates(spec *corev1.PodSpec, at *field.Path) []string {
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
		at := at.Child("imagePullSecrets").Index(i).Child("name")
		if taken.Has(secret.Name) {
			list = append(list, warn(at, fmt.Sprintf("duplicate name %q", secret.Name)))
		}
		if secret.Name == "" {
			list = append(list, warn(at, `invalid empty name ""`))
		}
		taken.Insert(secret.Name)
	}
	return list
}

// warnOfFractions is about fractions of a byte.
func warnOfFractions(list corev1.ResourceList, at *field.Path) []string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		bytes := name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || name == corev1.ResourceStorage
		if q := list[name]; bytes && q.MilliValue()%1000 != 0 {
			texts = append(texts, warn(at.Key(string(name)), fmt.Sprintf("fractional byte value %q is invalid, must be an integer", q.String())))
		}
	}
	return texts
}

// ClaimWarnings are about the spec of a claim, or of a template of one.
func ClaimWarnings(spec *corev1.PersistentVolumeClaimSpec, at *field.Path) []string {
	list := warnOfFractions(spec.Resources.Requests, at.Child("resources", "requests"))
	return append(list, warnOfFractions(spec.Resources.Limits, at.Child("resources", "limits"))...)
}

// warnOfAddresses is about addresses that could be spelled in another way.
func warnOfAddresses(spec *corev1.PodSpec, at *field.Path) []string {
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
