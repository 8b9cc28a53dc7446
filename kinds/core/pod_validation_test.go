package core_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// updatable is the start of kube-apiserver's message for other changes.
const updatable = "Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields other than " +
	"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
	"`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"

func TestPodUpdates(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		change func(*corev1.Pod)
		want   string
	}{
		{"images are mutable", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" }, ""},
		{"tolerations can be added", func(p *corev1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "b", Operator: corev1.TolerationOpExists})
		}, ""},
		{"tolerations cannot be removed", func(p *corev1.Pod) { p.Spec.Tolerations = nil },
			`Pod "p" is invalid: spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds`},
		{"tolerations are validated", func(p *corev1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "b", Operator: "x"})
		}, `Pod "p" is invalid: spec.tolerations[1].operator: Unsupported value: "x": supported values: "Equal", "Exists"`},
		{"a deadline can be shortened", func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(50)) }, ""},
		{"a deadline cannot be extended", func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(200)) },
			`Pod "p" is invalid: spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value`},
		{"containers cannot be added", func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "d", Image: "i"})
		}, `Pod "p" is invalid: spec.containers: Forbidden: pod updates may not add or remove containers`},
		{"other fields are immutable", func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.InitContainers = "n", []corev1.Container{}
		}, updatable + `@@ -43,7 +43,7 @@
  "ServiceAccountName": "",
  "DeprecatedServiceAccount": "",
  "AutomountServiceAccountToken": null,
- "NodeName": "",
+ "NodeName": "n",
  "HostNetwork": false,
  "HostPID": false,
  "HostIPC": false,
`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := newEnv(t)
			pod := newPod("p")
			pod.Spec.ActiveDeadlineSeconds = new(int64(100))
			pod.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
			e.Create("pods", pod)
			_, err := put(e, "pods", "p", "", tc.change)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || strings.TrimSpace(err.Error()) != strings.TrimSpace(tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
