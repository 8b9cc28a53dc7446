package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func serviceAccounts(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.ServiceAccount]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.ServiceAccount{},
		List:                     &corev1.ServiceAccountList{},
		Resource:                 "serviceaccounts",
		GenerateNameOnUpdate:     true,
		ShortNames:               []string{"sa"},
		Namespaced:               true,
		PrepareForCreate:         func(_ context.Context, a *corev1.ServiceAccount) { cleanSecretReferences(a) },
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         func(_ context.Context, a, _ *corev1.ServiceAccount) { cleanSecretReferences(a) },
		ReturnDeletedObject:      true,
		Columns:                  kind.StandardColumns[*corev1.ServiceAccount](),
		Subresources:             []registry.Subresource{tokenSubresource()},
	}.Build(features)
}

// cleanSecretReferences keeps the names only: secrets are in the namespace of the account.
func cleanSecretReferences(a *corev1.ServiceAccount) {
	for i, secret := range a.Secrets {
		a.Secrets[i] = corev1.ObjectReference{Name: secret.Name}
	}
}
