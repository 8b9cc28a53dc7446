package plugin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/miniapi/miniapi/registry"
)

// defaultAccount is the account of pods that name none.
const defaultAccount = "default"

// ServiceAccount sets the service account "default" in pods without one, rejects pods whose account
// does not exist, and mounts a token of the account. The step reads the resource "serviceaccounts"
// of the catalog. It is disabled by default, because a namespace has no account "default" unless
// the serviceaccount-controller runs.
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
		spec.ServiceAccountName = defaultAccount
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
	ephemeral := a.Subresource != ""
	err = checkSecrets(account, &pod.Spec, ephemeral)
	if err == nil || ephemeral {
		return err // without a status, which makes the answer a 500, as in kube-apiserver
	}
	return forbidden(a, err)
}

// accountOf returns the account of a pod, or a 403 if it does not exist. It waits for the account
// "default", which a controller creates after the namespace.
func accountOf(ctx context.Context, a *registry.Attributes, spec *corev1.PodSpec) (*corev1.ServiceAccount, error) {
	name := spec.ServiceAccountName
	store, ok := a.Catalog.Store(corev1.Resource("serviceaccounts"))
	if !ok {
		return nil, accountError(a, name, notFound(name))
	}
	account, err := getObject[*corev1.ServiceAccount](ctx, store, a.Namespace, name)
	if apierrors.IsNotFound(err) && name == defaultAccount {
		account, err = awaitDefaultAccount(ctx, store, a.Namespace)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, accountError(a, name, notFound(name))
	case err != nil:
		return nil, accountError(a, name, err)
	}
	return account, nil
}

// awaitDefaultAccount repeats the read of the account "default" as often as kube-apiserver. It
// returns NotFound if no read finds it.
func awaitDefaultAccount(ctx context.Context, store *registry.Store, namespace string) (*corev1.ServiceAccount, error) {
	const repetitions = 9
	interval := time.NewTicker(wait.Jitter(100*time.Millisecond, 1))
	defer interval.Stop()
	for range repetitions {
		select {
		case <-interval.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		account, err := getObjectAt[*corev1.ServiceAccount](ctx, store, namespace, defaultAccount, "")
		if !apierrors.IsNotFound(err) {
			return account, err
		}
	}
	return nil, notFound(defaultAccount)
}

func notFound(account string) error {
	return apierrors.NewNotFound(corev1.Resource("serviceaccount"), account)
}

func accountError(a *registry.Attributes, name string, err error) error {
	return forbidden(a, fmt.Errorf("error looking up service account %s/%s: %w", a.Namespace, name, err))
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
