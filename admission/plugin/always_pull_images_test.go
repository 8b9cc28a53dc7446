package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestAlwaysPullImages(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"AlwaysPullImages"}})
	pod := mustCreate(e, "pods", newPod("p", func(p *corev1.Pod) {
		p.Spec.Containers[0].ImagePullPolicy = corev1.PullNever
		p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "i:v1"}}
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "i:v2"}}}}
	}))
	got := []corev1.PullPolicy{pod.Spec.InitContainers[0].ImagePullPolicy, pod.Spec.Containers[0].ImagePullPolicy, pod.Spec.Volumes[0].Image.PullPolicy}
	if diff := cmp.Diff([]corev1.PullPolicy{corev1.PullAlways, corev1.PullAlways, corev1.PullAlways}, got); diff != "" {
		t.Error(diff)
	}
	change(e, "pods", pod, func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" })
}

func TestAlwaysPullImagesIgnoresPodsWithoutNewImages(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	pod := mustCreate(e, "pods", newPod("p", func(p *corev1.Pod) {
		p.Spec.Containers[0].ImagePullPolicy = corev1.PullNever
		p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "i:v1"}}
	}))
	const notSupported = `pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"`
	const ofInit = `pods "p" is forbidden: spec.initContainers[0].imagePullPolicy: Unsupported value: "IfNotPresent": supported values: "Always"`
	for _, tc := range []struct {
		rule, image, want string
	}{
		{"the same image", "i", ""},
		{"the image of another container", "i:v1", ""},
		{"a new image", "other", "[" + ofInit + ", " + notSupported + "]"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			next := pod.DeepCopy()
			next.Spec.Containers[0].Image = tc.image
			a := update(e, "pods", pod, next)
			step := plugin.AlwaysPullImages()
			if got := text(step.Validate(t.Context(), a)); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
			a.Subresource = "ephemeralcontainers"
			if err := step.Validate(t.Context(), a); err != nil {
				t.Errorf("a subresource: %v", err)
			}
		})
	}
}
