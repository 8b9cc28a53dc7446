// Package admissionregistration holds the kinds of admissionregistration.k8s.io.
package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{
		withExpressions(mutatingAdmissionPolicies(), mutatingPolicyExpressions),
		mutatingAdmissionPolicyBindings(),
		withExpressions(mutatingWebhookConfigurations(), mutatingWebhookExpressions),
		withExpressions(validatingAdmissionPolicies(), validatingPolicyExpressions),
		validatingAdmissionPolicyBindings(),
		withExpressions(validatingWebhookConfigurations(), validatingWebhookExpressions),
	}
}

// definition is what all kinds of the group have in common.
func definition(resource string, object, list runtime.Object) kind.Definition {
	return kind.Definition{
		GroupVersion: admissionregistrationv1.SchemeGroupVersion,
		Object:       object,
		List:         list,
		Resource:     resource,
		Categories:   []string{"api-extensions"},
		Generation:   true,
	}
}

func webhookColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Webhooks", "integer", "Webhooks indicates the number of webhooks registered in this configuration"),
		kind.AgeColumn(),
	}
}

func bindingColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("PolicyName", "string", "PolicyName indicates the policy definition which the policy binding binded to"),
		kind.Column("ParamRef", "string", "ParamRef indicates the param resource which sets the configuration param"),
		kind.AgeColumn(),
	}
}

func paramKindColumn() metav1.TableColumnDefinition {
	return kind.Column("ParamKind", "string", "ParamKind specifies the kind of resources used to parameterize this policy")
}

func paramKindCell(param *admissionregistrationv1.ParamKind) string {
	if param == nil {
		return "<unset>"
	}
	return param.APIVersion + "/" + param.Kind
}

// paramRefCell shows a namespace of * where it is not said: the kind of the
// parameters decides whether they have one.
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
