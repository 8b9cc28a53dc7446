package kind

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// podSpec has the fields of a pod spec in the order and under the names of kube-apiserver's
// internal type.
type podSpec struct {
	Volumes                       []corev1.Volume
	InitContainers                []corev1.Container
	Containers                    []corev1.Container
	EphemeralContainers           []corev1.EphemeralContainer
	RestartPolicy                 corev1.RestartPolicy
	TerminationGracePeriodSeconds *int64
	ActiveDeadlineSeconds         *int64
	DNSPolicy                     corev1.DNSPolicy
	NodeSelector                  map[string]string
	ServiceAccountName            string
	AutomountServiceAccountToken  *bool
	NodeName                      string
	SecurityContext               *podSecurity
	ImagePullSecrets              []corev1.LocalObjectReference
	Hostname                      string
	Subdomain                     string
	SetHostnameAsFQDN             *bool
	Affinity                      *corev1.Affinity
	SchedulerName                 string
	Tolerations                   []corev1.Toleration
	HostAliases                   []corev1.HostAlias
	PriorityClassName             string
	Priority                      *int32
	PreemptionPolicy              *corev1.PreemptionPolicy
	DNSConfig                     *corev1.PodDNSConfig
	ReadinessGates                []corev1.PodReadinessGate
	RuntimeClassName              *string
	Overhead                      corev1.ResourceList
	EnableServiceLinks            *bool
	TopologySpreadConstraints     []corev1.TopologySpreadConstraint
	OS                            *corev1.PodOS
	SchedulingGates               []corev1.PodSchedulingGate
	ResourceClaims                []corev1.PodResourceClaim
	Resources                     *corev1.ResourceRequirements
	HostnameOverride              *string
	SchedulingGroup               *corev1.PodSchedulingGroup
}

// podSecurity includes fields that the API has in the pod spec itself.
type podSecurity struct {
	HostNetwork, HostPID, HostIPC bool
	ShareProcessNamespace         *bool
	HostUsers                     *bool
	SELinuxOptions                *corev1.SELinuxOptions
	WindowsOptions                *corev1.WindowsSecurityContextOptions
	RunAsUser                     *int64
	RunAsGroup                    *int64
	RunAsNonRoot                  *bool
	SupplementalGroups            []int64
	SupplementalGroupsPolicy      *corev1.SupplementalGroupsPolicy
	FSGroup                       *int64
	FSGroupChangePolicy           *corev1.PodFSGroupChangePolicy
	Sysctls                       []corev1.Sysctl
	SeccompProfile                *corev1.SeccompProfile
	AppArmorProfile               *corev1.AppArmorProfile
	SELinuxChangePolicy           *corev1.PodSELinuxChangePolicy
}

func internalPodSpec(spec corev1.PodSpec) podSpec {
	var p podSpec
	copyFields(reflect.ValueOf(&p).Elem(), reflect.ValueOf(spec))
	if spec.SecurityContext != nil {
		p.SecurityContext = &podSecurity{}
		security := reflect.ValueOf(p.SecurityContext).Elem()
		copyFields(security, reflect.ValueOf(*spec.SecurityContext))
		copyFields(security, reflect.ValueOf(spec))
	}
	return p
}

// copyFields copies the fields that both structs have.
func copyFields(to, from reflect.Value) {
	for i := range to.NumField() {
		source := from.FieldByName(to.Type().Field(i).Name)
		if source.IsValid() && source.Type() == to.Field(i).Type() {
			to.Field(i).Set(source)
		}
	}
}
