package plugin

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// ServiceAccount sets the service account "default" in pods without one, rejects pods whose account
// does not exist, and mounts a token of the account. The step reads the resource "serviceaccounts"
// of the catalog. It is disabled by default, because no controller creates the account "default".
func ServiceAccount() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ServiceAccount", Admit: setServiceAccount, Validate: checkAccount}
}

func setServiceAccount(ctx context.Context, a *registry.Attributes) error {
	pod, ok := created[*corev1.Pod](a)
	if !ok || isMirror(pod) {
		return checkAccount(ctx, a)
	}
	spec := &pod.Spec
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = "default"
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	account, err := accountOf(ctx, a, spec)
	if err != nil {
		return err
	}
	if mountsToken(account, spec) {
		mountToken(spec)
	}
	if len(spec.ImagePullSecrets) == 0 {
		for _, secret := range account.ImagePullSecrets {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
		}
	}
	return checkAccount(ctx, a)
}

// checkAccount checks new pods, and ephemeral containers added to pods.
func checkAccount(ctx context.Context, a *registry.Attributes) error {
	pod, ok := created[*corev1.Pod](a)
	if !ok && a.Operation == registry.OperationUpdate && a.Subresource == "ephemeralcontainers" {
		pod, ok = a.Object.(*corev1.Pod)
	}
	switch {
	case !ok:
		return nil
	case isMirror(pod) && a.Subresource == "":
		return checkMirror(a, &pod.Spec)
	case pod.Spec.ServiceAccountName == "":
		return forbidden(a, fmt.Errorf("no service account specified for pod %s/%s", a.Namespace, pod.Name))
	}
	account, err := accountOf(ctx, a, &pod.Spec)
	if err != nil {
		return err
	}
	if strict, _ := strconv.ParseBool(account.Annotations["kubernetes.io/enforce-mountable-secrets"]); !strict {
		return nil
	}
	if err := checkSecrets(account, &pod.Spec, a.Subresource != ""); err != nil {
		return forbidden(a, err)
	}
	return nil
}

func accountOf(ctx context.Context, a *registry.Attributes, spec *corev1.PodSpec) (*corev1.ServiceAccount, error) {
	name := spec.ServiceAccountName
	err := error(apierrors.NewNotFound(corev1.Resource("serviceaccount"), name))
	if store, ok := a.Catalog.Store(corev1.Resource("serviceaccounts")); ok {
		account, getErr := getObject[*corev1.ServiceAccount](ctx, store, a.Namespace, name)
		if getErr == nil {
			return account, nil
		}
		if !apierrors.IsNotFound(getErr) {
			err = getErr
		}
	}
	return nil, forbidden(a, fmt.Errorf("error looking up service account %s/%s: %w", a.Namespace, name, err))
}

// isMirror reports whether a pod is the mirror of a static pod of a kubelet.
func isMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}

func checkMirror(a *registry.Attributes, spec *corev1.PodSpec) error {
	switch {
	case spec.ServiceAccountName != "":
		return forbidden(a, errors.New("a mirror pod may not reference service accounts"))
	case usesSecrets(spec):
		return forbidden(a, errors.New("a mirror pod may not reference secrets"))
	case projectsToken(spec):
		return forbidden(a, errors.New("a mirror pod may not use ServiceAccountToken volume projections"))
	}
	return nil
}
