package plugin

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

// AlwaysPullImages sets the pull policy of all images of a pod to Always. It ignores updates
// without new images of containers.
func AlwaysPullImages() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "AlwaysPullImages", Admit: pullAlways, Validate: checkPullPolicies}
}

func pullAlways(_ context.Context, a *registry.Attributes) error {
	visitPullPolicies(a, func(policy *corev1.PullPolicy, _ *field.Path) { *policy = corev1.PullAlways })
	return nil
}

// checkPullPolicies rejects other policies, which a later step has set. As in kube-apiserver, the
// errors are aggregated, which makes the answer a 500.
func checkPullPolicies(_ context.Context, a *registry.Attributes) error {
	var errs []error
	visitPullPolicies(a, func(policy *corev1.PullPolicy, at *field.Path) {
		if *policy != corev1.PullAlways {
			errs = append(errs, forbidden(a, field.NotSupported(at, *policy, []corev1.PullPolicy{corev1.PullAlways})))
		}
	})
	return utilerrors.NewAggregate(errs)
}

// visitPullPolicies visits the pull policies of a new pod, or of an updated pod with a new image.
func visitPullPolicies(a *registry.Attributes, visit func(policy *corev1.PullPolicy, at *field.Path)) {
	pod, ok := created[*corev1.Pod](a)
	if !ok {
		var old *corev1.Pod
		if pod, old, ok = updated[*corev1.Pod](a); !ok || !hasNewImage(&pod.Spec, &old.Spec) {
			return
		}
	}
	spec, path := &pod.Spec, field.NewPath("spec")
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i].ImagePullPolicy, path.Child("initContainers").Index(i).Child("imagePullPolicy"))
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i].ImagePullPolicy, path.Child("containers").Index(i).Child("imagePullPolicy"))
	}
	for i := range spec.EphemeralContainers {
		visit(&spec.EphemeralContainers[i].ImagePullPolicy, path.Child("ephemeralContainers").Index(i).Child("imagePullPolicy"))
	}
	for i := range spec.Volumes {
		if image := spec.Volumes[i].Image; image != nil {
			visit(&image.PullPolicy, path.Child("volumes").Index(i).Child("image", "pullPolicy"))
		}
	}
}

// hasNewImage reports whether a container has an image that no container of the old pod has.
func hasNewImage(spec, old *corev1.PodSpec) bool {
	known := sets.New(imagesOf(old)...)
	return slices.ContainsFunc(imagesOf(spec), func(image string) bool { return !known.Has(image) })
}

func imagesOf(spec *corev1.PodSpec) []string {
	var images []string
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for _, c := range containers {
			images = append(images, c.Image)
		}
	}
	for _, c := range spec.EphemeralContainers {
		images = append(images, c.Image)
	}
	return images
}
