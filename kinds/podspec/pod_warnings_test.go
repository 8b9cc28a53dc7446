package podspec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func TestWarnings(t *testing.T) {
	for _, tc := range []struct {
		about  string
		change func(*corev1.Pod, *corev1.Container)
		want   []string
	}{
		{"nothing", func(*corev1.Pod, *corev1.Container) {}, nil},
		{"deprecated node labels", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.NodeSelector = map[string]string{"beta.kubernetes.io/os": "linux"}
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "failure-domain.beta.kubernetes.io/zone"}}
		}, []string{
			`spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
			`spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
			`spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod`,
		}},
		{"deprecated annotations", func(p *corev1.Pod, c *corev1.Container) {
			p.Annotations = map[string]string{
				"scheduler.alpha.kubernetes.io/critical-pod": "", corev1.SeccompPodAnnotationKey: "", corev1.SeccompContainerAnnotationKeyPrefix + "c": "",
			}
			c.SecurityContext = &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}}
		}, []string{
			`metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead`,
			`metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead`,
		}},
		{"removed volume types", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{GitRepo: &corev1.GitRepoVolumeSource{}}}}
		}, []string{`spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+`}},
		{"overlapping volume paths", func(p *corev1.Pod, _ *corev1.Container) {
			keys := []corev1.KeyToPath{{Path: "a"}, {Path: "a/b"}}
			p.Spec.Volumes = []corev1.Volume{
				{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "m"}, Items: keys}}},
				{Name: "w", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Items: keys[:1]}},
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "a/"}}, {},
				}}}},
			}
		}, []string{
			`volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"`,
			`volume "w" (Projected) has no sources provided`,
			`volume "w" (Projected): overlapping paths: "a" (ServiceAccountToken) with "a" (Secret "s")`,
		}},
		{"fractional bytes", func(_ *corev1.Pod, c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100m"), corev1.ResourceCPU: resource.MustParse("100m")}
		}, []string{`spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer`}},
		{"duplicate environment variables", func(_ *corev1.Pod, c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "$(A)2"}, {Name: "A", Value: "3"}}
		}, []string{`spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply`}},
		{"duplicate ports", func(_ *corev1.Pod, c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{
				{Name: "a", ContainerPort: 80}, {Name: "b", ContainerPort: 80, HostPort: 80}, {ContainerPort: 80, HostPort: 80, HostIP: "10.0.0.1"}, {Name: "a", ContainerPort: 81},
			}
		}, []string{
			`spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]`,
			`spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]`,
			`spec.containers[0].ports[2]: dangerously ambiguous port definition with spec.containers[0].ports[1]`,
			`spec.containers[0].ports[3]: duplicate port name "a" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]`,
		}},
		{"duplicate names and addresses", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}, {Name: "a"}, {}}
			p.Spec.HostAliases = []corev1.HostAlias{{IP: "10.0.0.1"}, {IP: "10.0.0.1"}}
			p.Spec.TerminationGracePeriodSeconds = new(int64(-1))
		}, []string{
			`spec.hostAliases[1].ip: duplicate ip "10.0.0.1"`,
			`spec.imagePullSecrets[1].name: duplicate name "a"`,
			`spec.imagePullSecrets[2].name: invalid empty name ""`,
			`spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
		}},
	} {
		t.Run(tc.about, func(t *testing.T) {
			p := newPod()
			tc.change(p, &p.Spec.Containers[0])
			if diff := cmp.Diff(tc.want, podspec.Warnings(p)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The number of pairs of equal ports is quadratic: 40,000 ports have 800 million.
func TestPortWarningsAreLimited(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Ports: make([]corev1.ContainerPort, 40_000)}}}}
	for i := range p.Spec.Containers[0].Ports {
		p.Spec.Containers[0].Ports[i] = corev1.ContainerPort{ContainerPort: 80, Protocol: corev1.ProtocolTCP}
	}
	if got := len(podspec.Warnings(p)); got != 1000 {
		t.Errorf("%d warnings", got)
	}
}

func TestTemplateWarnings(t *testing.T) {
	p := newPod()
	p.Annotations = map[string]string{corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "c": "unconfined"}
	template := &corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
	want := []string{`template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`}
	if diff := cmp.Diff(want, podspec.TemplateWarnings(template, field.NewPath("template"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
