package expression

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"
	upstream "k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/miniapi/miniapi/registry"
)

// authorizer evaluates the authorizer variable of expressions.
type authorizer struct{ registry.Authorizer }

// Authorize implements authorizer.UnconditionalAuthorizer.
func (a authorizer) Authorize(ctx context.Context, attributes upstream.Attributes) (upstream.Decision, string, error) {
	access := registry.Access{User: userOf(attributes.GetUser())}
	if attributes.IsResourceRequest() {
		access.Resource = &authorizationv1.ResourceAttributes{
			Namespace: attributes.GetNamespace(), Verb: attributes.GetVerb(),
			Group: attributes.GetAPIGroup(), Version: attributes.GetAPIVersion(), Resource: attributes.GetResource(),
			Subresource: attributes.GetSubresource(), Name: attributes.GetName(),
			FieldSelector: fieldSelector(attributes), LabelSelector: labelSelector(attributes),
		}
	} else {
		access.NonResource = &authorizationv1.NonResourceAttributes{Path: attributes.GetPath(), Verb: attributes.GetVerb()}
	}
	decision, err := a.Authorizer.Authorize(ctx, access)
	switch {
	case decision.Allowed:
		return upstream.DecisionAllow, decision.Reason, err
	case decision.Denied:
		return upstream.DecisionDeny, decision.Reason, err
	}
	return upstream.DecisionNoOpinion, decision.Reason, err
}

func userOf(u user.Info) *authenticationv1.UserInfo {
	info := &authenticationv1.UserInfo{
		Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(),
		Extra: map[string]authenticationv1.ExtraValue{},
	}
	for key, values := range u.GetExtra() {
		info.Extra[key] = values
	}
	return info
}

func fieldSelector(attributes upstream.Attributes) *authorizationv1.FieldSelectorAttributes {
	requirements, err := attributes.GetFieldSelector()
	if err != nil || len(requirements) == 0 {
		return nil
	}
	selector := &authorizationv1.FieldSelectorAttributes{}
	for _, r := range requirements {
		selector.Requirements = append(selector.Requirements, fieldRequirement(r))
	}
	return selector
}

func fieldRequirement(r fields.Requirement) metav1.FieldSelectorRequirement {
	operator := metav1.FieldSelectorOpIn
	if string(r.Operator) == "!=" {
		operator = metav1.FieldSelectorOpNotIn
	}
	return metav1.FieldSelectorRequirement{Key: r.Field, Operator: operator, Values: []string{r.Value}}
}

func labelSelector(attributes upstream.Attributes) *authorizationv1.LabelSelectorAttributes {
	requirements, err := attributes.GetLabelSelector()
	if err != nil || len(requirements) == 0 {
		return nil
	}
	selector := &authorizationv1.LabelSelectorAttributes{}
	for _, r := range requirements {
		if converted, ok := labelRequirement(r); ok {
			selector.Requirements = append(selector.Requirements, converted)
		}
	}
	return selector
}

func labelRequirement(r labels.Requirement) (metav1.LabelSelectorRequirement, bool) {
	operator, ok := map[string]metav1.LabelSelectorOperator{
		"in": metav1.LabelSelectorOpIn, "=": metav1.LabelSelectorOpIn, "==": metav1.LabelSelectorOpIn,
		"notin": metav1.LabelSelectorOpNotIn, "!=": metav1.LabelSelectorOpNotIn,
		"exists": metav1.LabelSelectorOpExists, "!": metav1.LabelSelectorOpDoesNotExist,
	}[string(r.Operator())]
	return metav1.LabelSelectorRequirement{Key: r.Key(), Operator: operator, Values: r.ValuesUnsorted()}, ok
}
