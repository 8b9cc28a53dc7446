package plugin

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/kubelet"
)

// secretReference is a reference to a secret. source describes the field.
type secretReference struct{ source, secret string }

// checkSecrets returns an error for a secret that the account does not list. With ephemeral set, it
// checks only ephemeral containers.
func checkSecrets(account *corev1.ServiceAccount, spec *corev1.PodSpec, ephemeral bool) error {
	mountable := func(name string) bool {
		return slices.ContainsFunc(account.Secrets, func(r corev1.ObjectReference) bool { return r.Name == name })
	}
	references := ephemeralReferences(spec)
	if !ephemeral {
		references = slices.Concat(volumeReferences(spec), containerReferences("init container", spec.InitContainers), containerReferences("container", spec.Containers))
	}
	for _, r := range references {
		if !mountable(r.secret) {
			return fmt.Errorf("%s secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret", r.source, r.secret, account.Name)
		}
	}
	if ephemeral {
		return nil
	}
	for i, secret := range spec.ImagePullSecrets {
		if !slices.Contains(account.ImagePullSecrets, secret) {
			return fmt.Errorf("imagePullSecrets[%d].name=\"%s\" is not allowed because service account %s does not reference that imagePullSecret", i, secret.Name, account.Name)
		}
	}
	return nil
}

// usesSecrets reports whether a pod refers to a secret.
func usesSecrets(spec *corev1.PodSpec) bool {
	found := false
	kubelet.VisitReferences(spec, func(resource schema.GroupResource, name string) {
		found = found || resource == kubelet.Secrets && name != ""
	})
	return found
}

func volumeReferences(spec *corev1.PodSpec) []secretReference {
	var references []secretReference
	for _, v := range spec.Volumes {
		if v.Secret != nil {
			references = append(references, secretReference{"volume with", v.Secret.SecretName})
		}
	}
	return references
}

func containerReferences(kind string, containers []corev1.Container) []secretReference {
	var references []secretReference
	for _, c := range containers {
		references = append(references, environmentReferences(kind+" "+c.Name, c.Env, c.EnvFrom)...)
	}
	return references
}

func ephemeralReferences(spec *corev1.PodSpec) []secretReference {
	var references []secretReference
	for _, c := range spec.EphemeralContainers {
		references = append(references, environmentReferences("ephemeral container "+c.Name, c.Env, c.EnvFrom)...)
	}
	return references
}

func environmentReferences(container string, env []corev1.EnvVar, from []corev1.EnvFromSource) []secretReference {
	var references []secretReference
	for _, e := range env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			references = append(references, secretReference{container + " with envVar " + e.Name + " referencing", e.ValueFrom.SecretKeyRef.Name})
		}
	}
	for _, e := range from {
		if e.SecretRef != nil {
			references = append(references, secretReference{container + " with envFrom referencing", e.SecretRef.Name})
		}
	}
	return references
}
