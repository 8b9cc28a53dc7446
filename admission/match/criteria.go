package match

import (
	"context"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// Criteria decide which requests a webhook, a policy or a binding applies to.
//
// Invariant: Criteria are immutable and may be shared.
type Criteria struct {
	rules, excluded []rule
	// matchAll is set if there are no rules: all resources match.
	matchAll   bool
	equivalent bool
	// namespaces and objects select by labels. An invalid selector is kept as its error.
	namespaces, objects labels.Selector
	invalid             error
}

// ForRules returns the criteria of a webhook.
func ForRules(rules []admissionregistrationv1.RuleWithOperations, policy *admissionregistrationv1.MatchPolicyType, namespaces, objects *metav1.LabelSelector) *Criteria {
	c := &Criteria{equivalent: equivalent(policy)}
	for i := range rules {
		c.rules = append(c.rules, rule{RuleWithOperations: &rules[i]})
	}
	c.selectBy(namespaces, objects)
	return c
}

// ForResources returns the criteria of a policy or a binding. Nil matches every request.
func ForResources(match *admissionregistrationv1.MatchResources) *Criteria {
	if match == nil {
		match = &admissionregistrationv1.MatchResources{}
	}
	c := &Criteria{
		rules: namedRules(match.ResourceRules), excluded: namedRules(match.ExcludeResourceRules),
		matchAll: len(match.ResourceRules) == 0, equivalent: equivalent(match.MatchPolicy),
	}
	namespaces, objects := match.NamespaceSelector, match.ObjectSelector
	if namespaces == nil {
		namespaces = &metav1.LabelSelector{}
	}
	if objects == nil {
		objects = &metav1.LabelSelector{}
	}
	c.selectBy(namespaces, objects)
	return c
}

func equivalent(policy *admissionregistrationv1.MatchPolicyType) bool {
	return policy != nil && *policy == admissionregistrationv1.Equivalent
}

func (c *Criteria) selectBy(namespaces, objects *metav1.LabelSelector) {
	if c.namespaces, c.invalid = metav1.LabelSelectorAsSelector(namespaces); c.invalid == nil {
		c.objects, c.invalid = metav1.LabelSelectorAsSelector(objects)
	}
}

// Match returns the target to show the request in, nil if the request does not match.
func (c *Criteria) Match(ctx context.Context, r *Request) (*Target, error) {
	if c.find(c.excluded, r) != nil {
		return nil, nil
	}
	target := &r.Target
	if !c.matchAll {
		target = c.find(c.rules, r)
	}
	if target == nil {
		return nil, nil
	}
	if c.invalid != nil {
		return nil, apierrors.NewInternalError(c.invalid)
	}
	if !c.objects.Empty() && !selects(c.objects, r.Object) && !selects(c.objects, r.OldObject) {
		return nil, nil
	}
	selected, err := c.selectsNamespace(ctx, r)
	if err != nil || !selected {
		return nil, err
	}
	return target, nil
}

// find returns the target of the first rule that matches. The version of the client's request
// is tried first.
func (c *Criteria) find(rules []rule, r *Request) *Target {
	if slices.ContainsFunc(rules, func(candidate rule) bool { return candidate.matches(r, &r.Target) }) {
		return &r.Target
	}
	if !c.equivalent || len(rules) == 0 {
		return nil
	}
	others := r.equivalents()
	for _, candidate := range rules {
		for i := range others {
			if candidate.matches(r, &others[i]) {
				return &others[i]
			}
		}
	}
	return nil
}

func selects(selector labels.Selector, obj runtime.Object) bool {
	accessor, err := meta.Accessor(obj)
	return err == nil && selector.Matches(labels.Set(accessor.GetLabels()))
}

// selectsNamespace reports whether the namespace selector matches the object of the request if it
// is a namespace, or else the namespace of the object.
func (c *Criteria) selectsNamespace(ctx context.Context, r *Request) (bool, error) {
	if c.namespaces.Empty() || r.Namespace == "" && !r.IsNamespace() {
		return true, nil
	}
	hasObject := r.Operation == registry.OperationCreate || r.Operation == registry.OperationUpdate
	if r.IsNamespace() && r.Subresource == "" && hasObject {
		return selects(c.namespaces, r.Object), nil
	}
	namespace, err := r.NamespaceObject(ctx)
	if err != nil {
		return false, err
	}
	return c.namespaces.Matches(labels.Set(namespace.Labels)), nil
}
