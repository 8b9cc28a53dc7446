package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func serviceAccounts() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.ServiceAccount{},
		List:         &corev1.ServiceAccountList{},
		Resource:     "serviceaccounts",
		ShortNames:   []string{"sa"},
		Namespaced:   true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Prepare: kind.OnCreate(cleanSecretReferences), Validate: kind.CheckCreate(validateServiceAccount)},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            kind.OnUpdate(func(a, _ *corev1.ServiceAccount) { cleanSecretReferences(a) }),
				Validate:           kind.CheckAgain(validateServiceAccount),
			},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{kind.NameColumn(), kind.AgeColumn()},
			Row: kind.Row(func(a *corev1.ServiceAccount) []any {
				return []any{a.Name, kind.Age(a.CreationTimestamp)}
			}),
		},
		Subresources: []registry.Subresource{tokenSubresource()},
	}.Build()
}

func validateServiceAccount(a *corev1.ServiceAccount) field.ErrorList { return kind.Finalizers(a) }

// cleanSecretReferences keeps the names alone: secrets are always those of the
// account's own namespace.
func cleanSecretReferences(a *corev1.ServiceAccount) {
	for i, secret := range a.Secrets {
		a.Secrets[i] = corev1.ObjectReference{Name: secret.Name}
	}
}
