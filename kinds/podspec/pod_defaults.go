package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// DefaultTemplate sets the defaults of a pod template.
func DefaultTemplate(template *corev1.PodTemplateSpec) { Default(&template.Spec) }

// Default sets the defaults of a pod spec.
func Default(spec *corev1.PodSpec) {
	kind.SetDefault(&spec.DNSPolicy, corev1.DNSClusterFirst)
	kind.SetDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	kind.SetDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	kind.SetDefaultPointer(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	kind.SetDefaultPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	// The two fields are synonyms: the newer one wins.
	kind.SetDefault(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	RoundUp(spec.Overhead)
	if spec.Resources != nil {
		roundRequirements(spec.Resources)
	}
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		defaultContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i].VolumeSource)
	}
}
