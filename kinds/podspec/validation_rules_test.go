package podspec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// rule is a change of a spec and the expected errors.
type rule struct {
	name   string
	change func(spec *corev1.PodSpec, c *corev1.Container)
	want   []string
}

func testRules(t *testing.T, rules []rule) {
	for _, tc := range rules {
		t.Run(tc.name, func(t *testing.T) {
			spec := &corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
			podspec.Default(spec)
			tc.change(spec, &spec.Containers[0])
			podspec.Default(spec)
			if diff := cmp.Diff(tc.want, registrytest.Texts(podspec.Validate(spec, feature.Default(), field.NewPath("spec")))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecurity(t *testing.T) {
	security := func(change func(*corev1.SecurityContext)) func(*corev1.PodSpec, *corev1.Container) {
		return func(_ *corev1.PodSpec, c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{}
			change(c.SecurityContext)
		}
	}
	testRules(t, []rule{
		{"user IDs are not negative", security(func(s *corev1.SecurityContext) { s.RunAsUser = new(int64(-1)) }),
			[]string{`spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`}},
		{"privileged containers allow privilege escalation", security(func(s *corev1.SecurityContext) {
			s.Privileged, s.AllowPrivilegeEscalation = new(true), new(false)
		}), []string{`spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,` +
			`"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,` +
			`"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: ` +
			"cannot set `allowPrivilegeEscalation` to false and `privileged` to true"}},
		{"only profiles of type Localhost have a name", func(s *corev1.PodSpec, c *corev1.Container) {
			s.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost}
			s.SecurityContext.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined, LocalhostProfile: new("p")}
			c.SecurityContext = &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{
				Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: new("/p"),
			}}
		}, []string{
			`spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: "/p": must be a relative path`,
			`spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`,
			`spec.securityContext.appArmorProfile.localhostProfile: Invalid value: "p": can only be set when AppArmor type is Localhost`,
		}},
		{"pods with host network set no sysctls of the network", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.HostNetwork = true
			s.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net/core/somaxconn"}, {Name: "kernel.sem"}, {Name: "A"}}
		}, []string{
			`spec.securityContext.sysctls[0].name: Invalid value: "net/core/somaxconn": may not be specified when 'hostNetwork' is true`,
			`spec.securityContext.sysctls[2].name: Invalid value: "A": must have at most 253 characters and match regex ` +
				`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`,
		}},
		{"user namespaces exclude host namespaces", func(s *corev1.PodSpec, c *corev1.Container) {
			s.HostUsers, s.HostPID = new(false), true
			c.SecurityContext = &corev1.SecurityContext{ProcMount: new(corev1.UnmaskedProcMount)}
		}, []string{"spec.HostPID: Forbidden: when `hostUsers` is false"}},
		{"procMount Unmasked needs a user namespace", security(func(s *corev1.SecurityContext) { s.ProcMount = new(corev1.UnmaskedProcMount) }),
			[]string{"spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`"}},
		{"fields of other operating systems are rejected", func(s *corev1.PodSpec, c *corev1.Container) {
			s.OS = &corev1.PodOS{Name: corev1.Windows}
			s.HostPID = true
			c.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		}, []string{
			`spec.hostPID: Forbidden: cannot be set for a windows pod`,
			`spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod`,
		}},
		{"host processes need the host network", security(func(s *corev1.SecurityContext) {
			s.WindowsOptions = &corev1.WindowsSecurityContextOptions{HostProcess: new(true), RunAsUserName: new(`a\b\c`)}
		}), []string{
			`spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\b\\c": runAsUserName cannot contain more than one backslash`,
			`spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers`,
		}},
	})
}

func TestScheduling(t *testing.T) {
	testRules(t, []rule{
		{"node selector terms have operators and values", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: "a", Operator: corev1.NodeSelectorOpIn}, {Key: "a", Operator: "x"}, {Key: "a", Operator: corev1.NodeSelectorOpGt, Values: []string{"-"}},
					},
					MatchFields: []corev1.NodeSelectorRequirement{{Key: "spec.a", Operator: corev1.NodeSelectorOpExists}},
				}}},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 101, Preference: corev1.NodeSelectorTerm{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpIn, Values: []string{"-"}}},
				}}},
			}}
		}, []string{
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: " +
				"Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].operator: ` +
				`Invalid value: "x": not a valid selector operator`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values[0]: ` +
				`Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end ` +
				`with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].operator: ` +
				`Invalid value: "Exists": not a valid selector operator`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: ` +
				`Invalid value: "spec.a": not a valid field selector key`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100`,
		}},
		{"pod affinity terms have a topology key and label keys need a selector", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{MatchLabelKeys: []string{"a"}, TopologyKey: "zone"}, {
					LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"a"}, MismatchLabelKeys: []string{"a"}, TopologyKey: "zone",
				}},
			}}
		}, []string{
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys`,
		}},
		{"topology spread constraints are unique", func(s *corev1.PodSpec, _ *corev1.Container) {
			c := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{}}
			second := c
			second.MaxSkew, second.MinDomains = 0, new(int32(1))
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{c, second}
		}, []string{
			`spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, ScheduleAnyway}"`,
			`spec.topologySpreadConstraints[1].maxSkew: Invalid value: 0: must be greater than zero`,
			`spec.topologySpreadConstraints[1].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`,
		}},
		{"tolerations with operator Exists have no value", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Value: "b"}, {Key: "a", Operator: "Gt"}}
		}, []string{
			`spec.tolerations[0].operator: Invalid value: "b": value must be empty when ` + "`operator` is 'Exists'",
			`spec.tolerations[1].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"`,
		}},
		{"scheduling gates are unique", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "a"}}
		}, []string{`spec.schedulingGates[1]: Duplicate value: "a"`}},
	})
}

func TestContainers(t *testing.T) {
	testRules(t, []rule{
		{"restart policy rules need a restart policy", func(_ *corev1.PodSpec, c *corev1.Container) {
			c.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestart}}
		}, []string{
			`spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
			`spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified`,
		}},
		{"host ports are unique, except in init containers", func(s *corev1.PodSpec, c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
			s.Containers = append(s.Containers, corev1.Container{Name: "d", Image: "i", Ports: c.Ports})
			s.InitContainers = []corev1.Container{{Name: "e", Image: "i", Ports: c.Ports}}
		}, []string{`spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"`}},
		{"host ports equal container ports in the host network", func(s *corev1.PodSpec, c *corev1.Container) {
			s.HostNetwork = true
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 81, HostPort: 82}}
		}, []string{"spec.containers[0].ports[1].hostPort: Invalid value: 82: must match `containerPort` when `hostNetwork` is true"}},
		{"volume devices refer to claims and are not mounted", func(s *corev1.PodSpec, c *corev1.Container) {
			s.Volumes = []corev1.Volume{{Name: "v"}}
			c.VolumeDevices = []corev1.VolumeDevice{{Name: "v", DevicePath: "/dev/../a"}}
			c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/a"}}
		}, []string{
			`spec.containers[0].volumeMounts[0].name: Invalid value: "v": must not already exist in volumeDevices`,
			`spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
			`spec.containers[0].volumeDevices[0].devicePath: Invalid value: "/dev/../a": can not contain backsteps ('..')`,
			`spec.containers[0].volumeDevices[0].name: Invalid value: "v": must not already exist in volumeMounts`,
		}},
		{"mount paths have no parent directories and bidirectional propagation needs privileges", func(s *corev1.PodSpec, c *corev1.Container) {
			s.Volumes = []corev1.Volume{{Name: "v"}}
			c.VolumeMounts = []corev1.VolumeMount{{
				Name: "v", MountPath: "/a", SubPath: "../b", MountPropagation: new(corev1.MountPropagationBidirectional),
				RecursiveReadOnly: new(corev1.RecursiveReadOnlyEnabled),
			}}
		}, []string{
			`spec.containers[0].volumeMounts.subPath: Invalid value: "../b": must not contain '..'`,
			`spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
			`spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
			`spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified`,
		}},
		{"field references are supported fields", func(_ *corev1.PodSpec, c *corev1.Container) {
			path := func(path string) *corev1.EnvVarSource {
				return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
			}
			c.Env = []corev1.EnvVar{
				{Name: "A", ValueFrom: path("metadata.labels['a']")}, {Name: "B", ValueFrom: path("metadata.labels")}, {Name: "C", ValueFrom: path("spec.x")},
				{Name: "D", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: resource.MustParse("2")}}},
				{Name: "E", ValueFrom: &corev1.EnvVarSource{}},
			}
		}, []string{
			`spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", ` +
				`"metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`,
			`spec.containers[0].env[2].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
			`spec.containers[0].env[3].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
			"spec.containers[0].env[4].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
		}},
		{"the sleep of a hook is at most the grace period", func(_ *corev1.PodSpec, c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 31}}}
		}, []string{`spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`}},
		{"huge pages are whole pages and need cpu or memory", func(_ *corev1.PodSpec, c *corev1.Container) {
			list := corev1.ResourceList{"hugepages-2Mi": resource.MustParse("3Mi")}
			c.Resources = corev1.ResourceRequirements{Limits: list}
		}, []string{
			`spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
			`spec.containers[0].resources: Forbidden: HugePages require cpu or memory`,
		}},
		{"resource claims of containers refer to claims of the pod", func(_ *corev1.PodSpec, c *corev1.Container) {
			list := corev1.ResourceList{"example.com/d": resource.MustParse("500m")}
			c.Resources = corev1.ResourceRequirements{Limits: list, Claims: []corev1.ResourceClaim{{Name: "a"}}}
		}, []string{
			`spec.containers[0].resources.limits[example.com/d]: Invalid value: "500m": must be an integer`,
			`spec.containers[0].resources.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty`,
		}},
		{"requests of containers are at most the requests of the pod", func(s *corev1.PodSpec, c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Limits: quantities("2"), Requests: quantities("1")}
			s.InitContainers = []corev1.Container{{Name: "d", Image: "i", Resources: c.Resources, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
			s.Resources = &corev1.ResourceRequirements{Limits: quantities("1500m"), Requests: quantities("1500m")}
		}, []string{
			`spec.resources.requests[cpu]: Invalid value: "1500m": must be greater than or equal to aggregate container requests of 2`,
			`spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1500m`,
		}},
		{"the pod has supported resources only", func(s *corev1.PodSpec, c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
			s.Resources = &corev1.ResourceRequirements{Requests: quantities("1")}
		}, nil},
		{"RestartContainer needs a restart policy", func(s *corev1.PodSpec, _ *corev1.Container) {
			again := []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}}
			s.InitContainers = []corev1.Container{
				{Name: "d", Image: "i", ResizePolicy: again},
				{Name: "e", Image: "i", ResizePolicy: again, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
			}
		}, []string{
			`spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
		}},
		{"ephemeral containers have restricted fields", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.EphemeralContainers = []corev1.EphemeralContainer{{TargetContainerName: "x", EphemeralContainerCommon: corev1.EphemeralContainerCommon{
				Name: "c", Image: " i", Ports: []corev1.ContainerPort{{ContainerPort: 80}}, RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
			}}}
		}, []string{
			`spec.ephemeralContainers[0].image: Invalid value: " i": must not have leading or trailing whitespace`,
			`spec.ephemeralContainers[0].name: Duplicate value: "c"`,
			`spec.ephemeralContainers[0].targetContainerName: Not found: "x"`,
			`spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container`,
			`spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral Container`,
		}},
	})
}

func TestNetwork(t *testing.T) {
	testRules(t, []rule{
		{"dnsPolicy None needs nameservers", func(s *corev1.PodSpec, _ *corev1.Container) { s.DNSPolicy = corev1.DNSNone },
			[]string{"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"}},
		{"dnsConfig is within the limits of resolvers", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.DNSConfig = &corev1.PodDNSConfig{
				Nameservers: []string{"a", "10.0.0.1", "10.0.0.2", "::1"}, Searches: []string{".", "a_b.", "c.d"}, Options: []corev1.PodDNSConfigOption{{}},
			}
		}, []string{
			`spec.dnsConfig.nameservers: Invalid value: ["a","10.0.0.1","10.0.0.2","::1"]: must not have more than 3 nameservers`,
			`spec.dnsConfig.nameservers[0]: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`spec.dnsConfig.options[0]: Required value: must not be empty`,
		}},
		{"hostnameOverride has a maximum length", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.HostnameOverride, s.HostNetwork = new(strings.Repeat("a", 63)+".a"), true
		}, []string{
			`spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true`,
			`spec.hostnameOverride: Too long: may not be more than 64 bytes`,
		}},
	})
}
