package podspec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func quantities(cpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
}

const notALabel = `Invalid value: "C": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ` +
	`and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`

func TestPodSpecs(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		change func(spec *corev1.PodSpec, c *corev1.Container)
		want   []string
	}{
		{"one container", func(*corev1.PodSpec, *corev1.Container) {}, nil},
		{"a container is required", func(s *corev1.PodSpec, _ *corev1.Container) { s.Containers = nil },
			[]string{`spec.containers: Required value`}},
		{"a name and an image are required", func(_ *corev1.PodSpec, c *corev1.Container) { c.Name, c.Image = "", "" },
			[]string{`spec.containers[0].name: Required value`, `spec.containers[0].image: Required value`}},
		{"container names are DNS labels", func(_ *corev1.PodSpec, c *corev1.Container) { c.Name = "C" },
			[]string{`spec.containers[0].name: ` + notALabel}},
		{"names are unique, including init containers", func(s *corev1.PodSpec, c *corev1.Container) {
			s.InitContainers = []corev1.Container{*c}
		}, []string{`spec.initContainers[0].name: Duplicate value: "c"`}},
		{"ports are valid and their names are unique", func(_ *corev1.PodSpec, c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{
				{Name: "nameValue", ContainerPort: 80}, {Name: "a", ContainerPort: 70000}, {Name: "a", ContainerPort: 1, Protocol: "protocolValue"}, {},
			}
		}, []string{
			`spec.containers[0].ports[0].name: Invalid value: "nameValue": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			`spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
			`spec.containers[0].ports[2].name: Duplicate value: "a"`,
			`spec.containers[0].ports[2].protocol: Unsupported value: "protocolValue": supported values: "SCTP", "TCP", "UDP"`,
			`spec.containers[0].ports[3].containerPort: Required value`,
		}},
		{"mounts refer to volumes and have unique paths", func(s *corev1.PodSpec, c *corev1.Container) {
			s.Volumes = []corev1.Volume{{Name: "v"}}
			c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/a"}, {Name: "default-token-s8ejd", MountPath: "/b"}, {Name: "v", MountPath: "/a"}, {Name: "v"}}
		}, []string{
			`spec.containers[0].volumeMounts[1].name: Not found: "default-token-s8ejd"`,
			`spec.containers[0].volumeMounts[2].mountPath: Invalid value: "/a": must be unique`,
			`spec.containers[0].volumeMounts[3].mountPath: Required value`,
		}},
		{"volumes have one source and unique names", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Volumes = []corev1.Volume{
				{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}, ConfigMap: &corev1.ConfigMapVolumeSource{}}},
				{Name: "w"}, {Name: "w"},
				{Name: "x", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}},
			}
		}, []string{
			`spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type`,
			`spec.volumes[2].name: Duplicate value: "w"`,
			`spec.volumes[3].secret.secretName: Required value`,
		}},
		{"requests are at most the limits and not negative", func(_ *corev1.PodSpec, c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Limits: quantities("1"), Requests: quantities("2")}
			c.Resources.Requests[corev1.ResourceMemory] = resource.MustParse("-1")
			c.Resources.Limits["limitsKey"] = resource.MustParse("1")
		}, []string{
			`spec.containers[0].resources.limits[limitsKey]: Invalid value: "limitsKey": must be a standard resource type or fully qualified`,
			`spec.containers[0].resources.limits[limitsKey]: Invalid value: "limitsKey": must be a standard resource for containers`,
			`spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
		}},
		{"requests of extended resources are integers equal to the limits", func(_ *corev1.PodSpec, c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{"example.com/device": resource.MustParse("1")}
		}, []string{`spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources`}},
		{"probes have one handler and liveness has success threshold 1", func(_ *corev1.PodSpec, c *corev1.Container) {
			tcp := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: tcp, SuccessThreshold: 5}
			both := tcp
			both.Exec = &corev1.ExecAction{Command: []string{"true"}}
			c.LivenessProbe = &corev1.Probe{ProbeHandler: both, SuccessThreshold: 5}
			c.StartupProbe = &corev1.Probe{}
		}, []string{
			`spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`,
			`spec.containers[0].livenessProbe.successThreshold: Invalid value: 5: must be 1`,
			`spec.containers[0].startupProbe: Required value: must specify a handler type`,
		}},
		{"environment variables have a name and one source", func(_ *corev1.PodSpec, c *corev1.Container) {
			ref := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
			c.Env = []corev1.EnvVar{{Value: "a"}, {Name: "a.b-c", Value: "x"}, {Name: "a", Value: "b", ValueFrom: ref}, {Name: "b", ValueFrom: ref}}
			c.EnvFrom = []corev1.EnvFromSource{{}}
		}, []string{
			`spec.containers[0].env[0].name: Required value`,
			"spec.containers[0].env[2].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
			"spec.containers[0].envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`",
		}},
		{"policies are known", func(s *corev1.PodSpec, c *corev1.Container) {
			s.RestartPolicy, s.DNSPolicy, c.ImagePullPolicy = "restartPolicyValue", "dnsPolicyValue", "imagePullPolicyValue"
		}, []string{
			`spec.containers[0].imagePullPolicy: Unsupported value: "imagePullPolicyValue": supported values: "Always", "IfNotPresent", "Never"`,
			`spec.restartPolicy: Unsupported value: "restartPolicyValue": supported values: "Always", "OnFailure", "Never"`,
			`spec.dnsPolicy: Unsupported value: "dnsPolicyValue": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`,
		}},
		{"tolerationSeconds needs effect NoExecute", func(s *corev1.PodSpec, _ *corev1.Container) {
			s.Tolerations = []corev1.Toleration{
				{Operator: corev1.TolerationOpExists},
				{Key: "a", Effect: corev1.TaintEffectNoSchedule, TolerationSeconds: new(int64(1))},
			}
		}, []string{"spec.tolerations[1].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			spec := &corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
			tc.change(spec, &spec.Containers[0])
			podspec.Default(spec)
			if diff := cmp.Diff(tc.want, registrytest.Texts(podspec.Validate(spec, feature.Default(), field.NewPath("spec")))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSELinuxChangePoliciesDependOnGate(t *testing.T) {
	policy := func(release feature.Release, policy corev1.PodSELinuxChangePolicy) []string {
		spec := &corev1.PodSecurityContext{SELinuxChangePolicy: &policy}
		pod := corev1.PodSpec{SecurityContext: spec}
		var got []string
		for _, err := range podspec.Validate(&pod, feature.At(release), field.NewPath("spec")) {
			if err.Field == "spec.securityContext.seLinuxChangePolicy" {
				got = append(got, err.ErrorBody())
			}
		}
		return got
	}
	want := []string{`Unsupported value: "MountOption": supported values: "Recursive"`}
	if diff := cmp.Diff(want, policy(36, corev1.SELinuxChangePolicyMountOption)); diff != "" {
		t.Errorf("v1.36 (-want +got):\n%s", diff)
	}
	if got := policy(37, corev1.SELinuxChangePolicyMountOption); got != nil {
		t.Errorf("v1.37: %q", got)
	}
}
