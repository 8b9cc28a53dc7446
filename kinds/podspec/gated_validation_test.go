package podspec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestGatedValues(t *testing.T) {
	type spec = corev1.PodSpec
	with := func(gates ...string) *feature.Set {
		config := feature.Config{Gates: map[string]bool{}}
		for _, gate := range gates {
			config.Gates[gate] = true
		}
		set, err := config.Set()
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	tolerate := func(value string) func(*spec) {
		return func(s *spec) {
			s.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpLt, Value: value}}
		}
	}
	ownUsers := func(s *spec) { s.HostUsers, s.HostNetwork = new(false), true }
	for _, tc := range []struct {
		rule     string
		features *feature.Set
		change   func(s *spec)
		want     []string
	}{
		{"operator Lt needs a gate", with(), tolerate("5"),
			[]string{`spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"`}},
		{"operator Lt", with("TaintTolerationComparisonOperators"), tolerate("5"), nil},
		{"operator Lt needs a number", with("TaintTolerationComparisonOperators"), tolerate("05"),
			[]string{`spec.tolerations[0].value: Invalid value: "05": must be a valid decimal integer in canonical form`}},
		{"user namespaces on the network of the host need a gate", with(), ownUsers,
			[]string{"spec.hostNetwork: Forbidden: when `hostUsers` is false"}},
		{"user namespaces on the network of the host", with("UserNamespacesHostNetworkSupport"), ownUsers, nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			pod := &corev1.Pod{Spec: spec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			podspec.Default(&pod.Spec)
			tc.change(&pod.Spec)
			if diff := cmp.Diff(tc.want, registrytest.Texts(podspec.ValidatePod(pod, tc.features))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The claim of an ephemeral volume has a name that consists of the names of the pod and the volume.
func TestNamesOfEphemeralClaims(t *testing.T) {
	claim := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("p", 252)}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "i"}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim},
		}}}},
	}}
	podspec.Default(&pod.Spec)
	want := []string{`spec.volumes[0].name: Invalid value: "v": PVC name "` + pod.Name + `-v": must be no more than 253 characters`}
	if diff := cmp.Diff(want, registrytest.Texts(podspec.ValidatePod(pod, feature.Default()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFieldsOfAlphaGates(t *testing.T) {
	check := registrytest.Rules(t, func() *corev1.Pod {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		podspec.Default(&pod.Spec)
		return pod
	}, func(pod *corev1.Pod) field.ErrorList { return podspec.ValidatePod(pod, feature.Default()) })
	check("stop signals need an operating system", func(p *corev1.Pod) {
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{StopSignal: new(corev1.SIGTERM)}
	}, "spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`")
	check("Windows has two stop signals", func(p *corev1.Pod) {
		p.Spec.OS = &corev1.PodOS{Name: corev1.Windows}
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{StopSignal: new(corev1.SIGHUP)}
	}, `spec.containers[0].lifecycle.stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"`)
	check("HTTP2 is without TLS", func(p *corev1.Pod) {
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{SuccessThreshold: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/", Port: intstr.FromInt32(80), Scheme: corev1.URISchemeHTTPS, Protocol: new(corev1.HTTPProtocolHTTP2),
		}}}
	}, `spec.containers[0].readinessProbe.httpGet.protocol: Invalid value: "HTTP2": is only supported with HTTP (H2C)`)
	check("HTTP2 is for the pod itself", func(p *corev1.Pod) {
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{SuccessThreshold: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/", Port: intstr.FromInt32(80), Scheme: corev1.URISchemeHTTP, Protocol: new(corev1.HTTPProtocolHTTP2), Host: "h",
		}}}
	}, "spec.containers[0].readinessProbe.httpGet.host: Invalid value: \"h\": must be empty when `protocol` is \"HTTP2\"")
	check("bind mount options are known and unique", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Mode: new(int32(0o2000))}}}}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v", BindMountOptions: []string{"x", "nodev", "nodev"}}}
	},
		"spec.volumes[0].emptyDir.mode: Invalid value: 1024: must be a number between 0 and 01777 (octal), both inclusive",
		`spec.containers[0].volumeMounts[0].name: Not found: "v"`,
		`spec.containers[0].volumeMounts[0].bindMountOptions[0]: Unsupported value: "x": supported values: "nodev", "noexec", "nosuid"`,
		`spec.containers[0].volumeMounts[0].bindMountOptions[2]: Duplicate value: "nodev"`)
	check("owners of files are users", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, DefaultMode: new(int32(0)), DefaultUser: new(int64(-1)),
		}}}}
	}, "spec.volumes[0].configMap.defaultUser: Invalid value: -1: must be between 0 and 2147483647, inclusive")
	check("a scheduling group has a name", func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} },
		"spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`")
	check("eviction responders have a domain and a priority", func(p *corev1.Pod) {
		p.Spec.EvictionResponders = []corev1.EvictionResponder{
			{Name: "a", Priority: new(int32(5000))}, {Name: "x.k8s.io/a", Priority: new(int32(5))}, {Name: "a.b/c"},
		}
	},
		`spec.evictionResponders[0].name: Invalid value: "a": must include a prefix (e.g. 'example.com/key')`,
		`spec.evictionResponders[1].name: Invalid value: "x.k8s.io/a": domain names *.k8s.io, *.kubernetes.io are reserved`,
		"spec.evictionResponders[1].priority: Invalid value: 5: priorities 0-999 are reserved for responders with *.k8s.io suffix",
		"spec.evictionResponders[2].priority: Required value")
}
