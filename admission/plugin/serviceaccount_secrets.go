package plugin

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// secretUse is a secret that a container names, and how.
type secretUse struct{ by, secret string }

// checkSecrets holds a pod to the secrets that its account lists, where the
// account says so. later: only containers that come later are looked at.
func checkSecrets(account *corev1.ServiceAccount, spec *corev1.PodSpec, later bool) error {
	mountable := func(name string) bool {
		return slices.ContainsFunc(account.Secrets, func(r corev1.ObjectReference) bool { return r.Name == name })
	}
	uses := ephemeralUses(spec)
	if !later {
		uses = slices.Concat(volumeUses(spec), containerUses("init container", spec.InitContainers), containerUses("container", spec.Containers))
	}
	for _, use := range uses {
		if !mountable(use.secret) {
			return fmt.Errorf("%s secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret", use.by, use.secret, account.Name)
		}
	}
	if later {
		return nil
	}
	for i, secret := range spec.ImagePullSecrets {
		if !slices.Contains(account.ImagePullSecrets, secret) {
			return fmt.Errorf("imagePullSecrets[%d].name=\"%s\" is not allowed because service account %s does not reference that imagePullSecret", i, secret.Name, account.Name)
		}
	}
	return nil
}

// usesSecrets tells whether a pod names any secret.
func usesSecrets(spec *corev1.PodSpec) bool {
	return len(spec.ImagePullSecrets) > 0 || len(volumeUses(spec)) > 0 || len(ephemeralUses(spec)) > 0 ||
		len(containerUses("", spec.InitContainers)) > 0 || len(containerUses("", spec.Containers)) > 0
}

func volumeUses(spec *corev1.PodSpec) []secretUse {
	var uses []secretUse
	for _, v := range spec.Volumes {
		if v.Secret != nil {
			uses = append(uses, secretUse{"volume with", v.Secret.SecretName})
		}
	}
	return uses
}

func containerUses(kind string, containers []corev1.Container) []secretUse {
	var uses []secretUse
	for _, c := range containers {
		uses = append(uses, environmentUses(kind+" "+c.Name, c.Env, c.EnvFrom)...)
	}
	return uses
}

func ephemeralUses(spec *corev1.PodSpec) []secretUse {
	var uses []secretUse
	for _, c := range spec.EphemeralContainers {
		uses = append(uses, environmentUses("ephemeral container "+c.Name, c.Env, c.EnvFrom)...)
	}
	return uses
}

func environmentUses(container string, env []corev1.EnvVar, from []corev1.EnvFromSource) []secretUse {
	var uses []secretUse
	for _, e := range env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			uses = append(uses, secretUse{container + " with envVar " + e.Name + " referencing", e.ValueFrom.SecretKeyRef.Name})
		}
	}
	for _, e := range from {
		if e.SecretRef != nil {
			uses = append(uses, secretUse{container + " with envFrom referencing", e.SecretRef.Name})
		}
	}
	return uses
}
