// Package admissionregistration holds the kinds of admissionregistration.k8s.io.
package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		mutatingAdmissionPolicies(features),
		mutatingAdmissionPolicyBindings(features),
		mutatingWebhookConfigurations(features),
		validatingAdmissionPolicies(features),
		validatingAdmissionPolicyBindings(features),
		validatingWebhookConfigurations(features),
	}
}

// definition returns the part that all kinds of the group have in common.
func definition[T kind.Object](resource string, object T, list runtime.Object) kind.Definition[T] {
	return kind.Definition[T]{
		GroupVersion:          admissionregistrationv1.SchemeGroupVersion,
		Object:                object,
		List:                  list,
		Resource:              resource,
		UnqualifiedFinalizers: true,
		GenerateNameOnUpdate:  true,
		Categories:            []string{"api-extensions"},
		Generation:            true,
	}
}

func webhookColumns[T kind.Object](count func(config T) int) []kind.Column[T] {
	return kind.StandardColumns(
		kind.IntegerColumn("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration",
			func(config T) any { return int64(count(config)) }),
	)
}

// boundPolicy is the part of a binding that its columns show.
type boundPolicy struct {
	name  string
	param *admissionregistrationv1.ParamRef
}

func bindingColumns[T kind.Object](policy func(binding T) boundPolicy) []kind.Column[T] {
	return kind.StandardColumns(
		kind.TextColumn("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to",
			func(binding T) any { return policy(binding).name }),
		kind.TextColumn("ParamRef", "ParamRef indicates the param resource which sets the configuration param",
			func(binding T) any { return paramRefCell(policy(binding).param) }),
	)
}

func paramKindColumn[T kind.Object](param func(policy T) *admissionregistrationv1.ParamKind) kind.Column[T] {
	return kind.TextColumn("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy",
		func(policy T) any { return paramKindCell(param(policy)) })
}

func paramKindCell(param *admissionregistrationv1.ParamKind) string {
	if param == nil {
		return "<unset>"
	}
	return param.APIVersion + "/" + param.Kind
}

// paramRefCell shows the namespace * for a reference without a namespace: the kind of the
// parameters decides whether they are namespaced.
func paramRefCell(ref *admissionregistrationv1.ParamRef) string {
	switch {
	case ref == nil:
		return "<unset>"
	case ref.Name != "" && ref.Namespace != "":
		return ref.Namespace + "/" + ref.Name
	case ref.Name != "":
		return "*/" + ref.Name
	case ref.Selector != nil:
		return ref.Selector.String()
	}
	return "<unset>"
}
