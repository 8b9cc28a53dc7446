package kind

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestGoJSON(t *testing.T) {
	for _, tc := range []struct {
		rule  string
		value any
		want  string
	}{
		{"fields have Go names", rbacv1.RoleRef{Kind: "Role", Name: "a"}, `{"APIGroup":"","Kind":"Role","Name":"a"}`},
		{"types of apimachinery have JSON names", &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, `{"matchLabels":{"a":"b"}}`},
		{"embedded fields have no name", corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "n"}}, `{"Name":"n","Optional":null}`},
		{"metadata with labels", batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}.ObjectMeta, `{"labels":{"a":"b"}}`},
		{"metadata with a name", batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: "n"}}.ObjectMeta, `{"name":"n"}`},
		{"quantities and ports are JSON", []any{resource.MustParse("1Gi"), intstr.FromString("http")}, `["1Gi","http"]`},
		{"nil is null", (*corev1.Pod)(nil), `null`},
		{"unset fields are null", corev1.KeyToPath{}, `{"Key":"","Path":"","Mode":null,"User":null}`},
	} {
		if got := string(GoJSON(tc.value)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.rule, got, tc.want)
		}
	}
}

func TestGoDiffShowsThreeLinesOfContext(t *testing.T) {
	got := GoDiff(corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{}},
		corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{}, HostNetwork: true})
	want := `@@ -12,7 +12,7 @@
  "DeprecatedServiceAccount": "",
  "AutomountServiceAccountToken": null,
  "NodeName": "",
- "HostNetwork": false,
+ "HostNetwork": true,
  "HostPID": false,
  "HostIPC": false,
  "ShareProcessNamespace": null,
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
