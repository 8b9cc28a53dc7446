package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func secrets() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.Secret{},
		List:         &corev1.SecretList{},
		Resource:     "secrets",
		Namespaced:   true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateSecret), Warnings: kind.WarnCreate(warnOfSecret)},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Validate:           kind.CheckUpdate(validateSecretUpdate), Warnings: kind.WarnAgain(warnOfSecret),
			},
		},
		Default:    kind.Defaults(defaultSecret),
		FieldLabel: kind.FieldLabels("metadata.name", "metadata.namespace", "type"),
		Fields: kind.Fields(func(s *corev1.Secret) fields.Set {
			return fields.Set{"type": string(s.Type)}
		}),
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Type", "string", corev1.Secret{}.SwaggerDoc()["type"]),
				kind.Column("Data", "string", corev1.Secret{}.SwaggerDoc()["data"]),
				kind.AgeColumn(),
			},
			Row: kind.Row(func(s *corev1.Secret) []any {
				return []any{s.Name, string(s.Type), int64(len(s.Data)), kind.Age(s.CreationTimestamp)}
			}),
		},
	}.Build()
}

func validateSecretUpdate(obj, old *corev1.Secret) field.ErrorList {
	errs := append(kind.Finalizers(obj), validation.ValidateImmutableField(obj.Type, old.Type, field.NewPath("type"))...)
	if old.Immutable == nil || !*old.Immutable {
		return append(errs, validateSecret(obj)...)
	}
	if obj.Immutable == nil || !*obj.Immutable {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableMessage))
	}
	if !equality.Semantic.DeepEqual(obj.Data, old.Data) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), immutableMessage))
	}
	return append(errs, validateSecret(obj)...)
}
