package podspec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func TestDisabledFieldsAreDropped(t *testing.T) {
	using := func() *corev1.PodSpec {
		return &corev1.PodSpec{
			SchedulingGroup: &corev1.PodSchedulingGroup{},
			InitContainers:  []corev1.Container{{Lifecycle: &corev1.Lifecycle{StopSignal: new(corev1.SIGTERM)}}},
			Containers:      []corev1.Container{{Lifecycle: &corev1.Lifecycle{StopSignal: new(corev1.SIGTERM), PreStop: &corev1.LifecycleHandler{}}}},
			Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{}}, {PodCertificate: &corev1.PodCertificateProjection{}}, {Secret: &corev1.SecretProjection{}},
			}}}}},
		}
	}
	without := &corev1.PodSpec{
		InitContainers: []corev1.Container{{}},
		Containers:     []corev1.Container{{Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{}}}},
		Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{}, {}, {Secret: &corev1.SecretProjection{}},
		}}}}},
	}
	for _, tc := range []struct {
		rule      string
		old, want *corev1.PodSpec
	}{
		{"from a new pod", nil, without},
		{"from a pod without the field", &corev1.PodSpec{}, without},
		{"not from a pod with the field", using(), using()},
	} {
		got := &corev1.Pod{Spec: *using()}
		disabled := kind.NewDisabledFields[*corev1.Pod](podspec.GatedFields("spec"), feature.At(36))
		if tc.old == nil {
			disabled.DropNew(got)
		} else {
			disabled.Drop(got, &corev1.Pod{Spec: *tc.old})
		}
		if diff := cmp.Diff(tc.want, &got.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.rule, diff)
		}
	}
}

func TestPodsAreSelectedByTheirOwnLabels(t *testing.T) {
	p := newPod()
	p.Labels = map[string]string{"a": "1", "b": "2"}
	selector := func() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}} }
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
		{LabelSelector: selector(), MatchLabelKeys: []string{"a", "missing"}}, {MatchLabelKeys: []string{"a"}},
	}
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: selector(), MatchLabelKeys: []string{"a"}, MismatchLabelKeys: []string{"b"}},
		},
	}}
	podspec.SelectByOwnLabels(p)
	in := metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}}
	out := metav1.LabelSelectorRequirement{Key: "b", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"2"}}
	for _, tc := range []struct {
		rule string
		got  *metav1.LabelSelector
		want []metav1.LabelSelectorRequirement
	}{
		{"matchLabelKeys are required", p.Spec.TopologySpreadConstraints[0].LabelSelector, []metav1.LabelSelectorRequirement{in}},
		{"mismatchLabelKeys are excluded", p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector, []metav1.LabelSelectorRequirement{in, out}},
	} {
		if diff := cmp.Diff(tc.want, tc.got.MatchExpressions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.rule, diff)
		}
	}
	if s := p.Spec.TopologySpreadConstraints[1].LabelSelector; s != nil {
		t.Errorf("what selects nothing selects %v", s)
	}
}

func TestAppArmorAnnotationsBecomeFields(t *testing.T) {
	const key = corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "c"
	const old = "metadata.annotations[" + key + `]: deprecated since v1.30; use the "appArmorProfile" field instead`
	runtime := &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	for _, tc := range []struct {
		rule, annotation string
		change           func(*corev1.Pod)
		want             *corev1.AppArmorProfile
		warnings         []string
	}{
		{"a profile of the runtime", "runtime/default", func(*corev1.Pod) {}, runtime, []string{old}},
		{"a profile in a file", "localhost/a", func(*corev1.Pod) {}, &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("a")}, []string{old}},
		{"an unknown profile", "x", func(*corev1.Pod) {}, nil, []string{old}},
		{"the field of the container takes precedence", "localhost/a", func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{AppArmorProfile: runtime}
		}, runtime, nil},
		{"the field of the pod is equal", "runtime/default", func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: runtime}
		}, nil, nil},
		{"Windows pods have no profile", "runtime/default", func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }, nil, nil},
	} {
		p := newPod()
		p.Annotations = map[string]string{key: tc.annotation}
		tc.change(p)
		warnings := podspec.AdoptAppArmor(p)
		var got *corev1.AppArmorProfile
		if c := p.Spec.Containers[0].SecurityContext; c != nil {
			got = c.AppArmorProfile
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.rule, diff)
		}
		if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", tc.rule, diff)
		}
	}
}
