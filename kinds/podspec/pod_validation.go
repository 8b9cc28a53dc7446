package podspec

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// ValidatePod validates the spec of a pod and the annotations that belong to it, after defaulting.
func ValidatePod(p *corev1.Pod, features *feature.Set) field.ErrorList {
	at := field.NewPath("spec")
	errs := ValidateAnnotations(p.Annotations, &p.Spec, field.NewPath("metadata", "annotations"))
	errs = append(errs, validateSpec(&scope{PodSpec: &p.Spec, pod: &p.ObjectMeta, features: features}, at)...)
	errs = append(errs, validateTokens(&p.Spec, at.Child("volumes"))...)
	for i := range p.Spec.Containers {
		errs = append(errs, ValidateImage(p.Spec.Containers[i].Image, at.Child("containers").Index(i).Child("image"))...)
	}
	for i := range p.Spec.InitContainers {
		errs = append(errs, ValidateImage(p.Spec.InitContainers[i].Image, at.Child("initContainers").Index(i).Child("image"))...)
	}
	return errs
}

// Validate validates the spec of a pod template after defaulting.
func Validate(spec *corev1.PodSpec, features *feature.Set, at *field.Path) field.ErrorList {
	return validateSpec(&scope{PodSpec: spec, features: features}, at)
}

// scope is a pod spec with the names that its parts refer to.
type scope struct {
	*corev1.PodSpec
	pod      *metav1.ObjectMeta // nil in a template
	features *feature.Set

	volumes map[string]*corev1.Volume // valid volumes
	claims  sets.Set[string]          // the names of resource claims
}

// validateSpec validates in the order of kube-apiserver.
func validateSpec(s *scope, at *field.Path) field.ErrorList {
	errs := validateVolumes(s, at.Child("volumes"))
	errs = append(errs, validatePodClaims(s, at.Child("resourceClaims"))...)
	errs = append(errs, validateContainers(s, at)...)
	errs = append(errs, validatePodResources(s, at.Child("resources"))...)
	errs = append(errs, validateHostPorts(s, at.Child("containers"))...)
	errs = append(errs, validatePolicies(s.PodSpec, at)...)
	errs = append(errs, metavalidation.ValidateLabels(s.NodeSelector, at.Child("nodeSelector"))...)
	errs = append(errs, validatePodSecurity(s, at.Child("securityContext"))...)
	errs = append(errs, validateShareProcessNamespace(s.PodSpec, at.Child("shareProcessNamespace"))...)
	errs = append(errs, validateAffinity(s.Affinity, at.Child("affinity"))...)
	errs = append(errs, validateDNS(s.PodSpec, at.Child("dnsConfig"))...)
	errs = append(errs, validateGates(s.PodSpec, at)...)
	errs = append(errs, validateSpread(s.TopologySpreadConstraints, at.Child("topologySpreadConstraints"))...)
	errs = append(errs, validateHostProcess(s.PodSpec, at)...)
	errs = append(errs, validateHostUsers(s, at)...)
	errs = append(errs, validateHostnameOverride(s.PodSpec, at.Child("hostnameOverride"))...)
	errs = append(errs, validateNames(s.PodSpec, at)...)
	if n := s.ActiveDeadlineSeconds; n != nil && (*n < 1 || *n > math.MaxInt32) {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *n, utilvalidation.InclusiveRangeError(1, math.MaxInt32)))
	}
	errs = append(errs, validateHostname(s.PodSpec, at)...)
	errs = append(errs, ValidateTolerations(s.Tolerations, s.features, at.Child("tolerations"))...)
	errs = append(errs, validateHostAliases(s.HostAliases, at.Child("hostAliases"))...)
	errs = append(errs, validateClasses(s.PodSpec, at)...)
	errs = append(errs, ValidateOverhead(s.Overhead, at.Child("overhead"))...)
	errs = append(errs, validateOS(s.PodSpec, at)...)
	errs = append(errs, validateSchedulingGroup(s.SchedulingGroup, at.Child("schedulingGroup", "podGroupName"))...)
	errs = append(errs, validateEvictionResponders(s.EvictionResponders, at.Child("evictionResponders"))...)
	return append(errs, validateFileVolumes(s.PodSpec, at)...)
}

func validateSchedulingGroup(g *corev1.PodSchedulingGroup, at *field.Path) field.ErrorList {
	switch {
	case g == nil:
		return nil
	case g.PodGroupName == nil:
		return field.ErrorList{field.Invalid(at, nil, "must specify one of: `podGroupName`")}
	}
	return kind.Invalid(at, *g.PodGroupName, utilvalidation.IsDNS1123Subdomain(*g.PodGroupName))
}

func validatePolicies(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, kind.OneOf(at.Child("restartPolicy"), spec.RestartPolicy,
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	return append(errs, kind.OneOf(at.Child("dnsPolicy"), spec.DNSPolicy,
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
}

func validateNames(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	errs := subdomain(spec.ServiceAccountName, at.Child("serviceAccountName"))
	return append(errs, subdomain(spec.NodeName, at.Child("nodeName"))...)
}

func validateClasses(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	errs := subdomain(spec.PriorityClassName, at.Child("priorityClassName"))
	if name := spec.RuntimeClassName; name != nil {
		errs = append(errs, kind.Invalid(at.Child("runtimeClassName"), *name, validation.NameIsDNSSubdomain(*name, false))...)
	}
	if p := spec.PreemptionPolicy; p != nil {
		errs = append(errs, kind.OneOf(at.Child("preemptionPolicy"), *p, corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	return errs
}

// subdomain requires a DNS subdomain, or an empty string.
func subdomain(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return kind.Invalid(at, name, validation.NameIsDNSSubdomain(name, false))
}

// validateGates validates scheduling gates and readiness gates.
func validateGates(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, gate := range spec.ReadinessGates {
		at := at.Child("readinessGates").Index(i).Child("conditionType")
		errs = append(errs, kind.Invalid(at, string(gate.ConditionType), utilvalidation.IsQualifiedName(string(gate.ConditionType)))...)
	}
	taken := sets.New[string]()
	for i, gate := range spec.SchedulingGates {
		at := at.Child("schedulingGates").Index(i)
		errs = append(errs, kind.Invalid(at, gate.Name, utilvalidation.IsQualifiedName(gate.Name))...)
		if taken.Has(gate.Name) {
			errs = append(errs, field.Duplicate(at, gate.Name))
		}
		taken.Insert(gate.Name)
	}
	return errs
}

// visitContainers visits init containers, containers and ephemeral containers.
func visitContainers(spec *corev1.PodSpec, at *field.Path, visit func(c *corev1.Container, at *field.Path)) {
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i], at.Child("initContainers").Index(i))
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i], at.Child("containers").Index(i))
	}
	for i := range spec.EphemeralContainers {
		visit((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon), at.Child("ephemeralContainers").Index(i))
	}
}
