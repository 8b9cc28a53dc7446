package policy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// application is a policy to be applied to a request: once for each binding and
// each parameter.
type application[P any] struct {
	policy  *policy[P]
	binding *binding // nil if the policy itself is at fault
	target  *match.Target
	param   runtime.Object // nil for none
	// fault says why it cannot be applied.
	fault error
}

// applications are those of all policies, in the order of their names and then
// of those of their bindings.
func (s *set[P]) applications(ctx context.Context, a *registry.Attributes) (*match.Request, []application[P], error) {
	request, policies, bindings, err := s.bound(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	var all []application[P]
	for i := range policies {
		p := &policies[i]
		if len(bindings[p.name]) == 0 {
			continue
		}
		one := application[P]{policy: p}
		if one.target, err = p.criteria.Match(ctx, request); err != nil {
			one.fault = fmt.Errorf("failed to configure policy: %w", err)
			all = append(all, one)
		} else if one.target != nil {
			all = append(all, one.bindTo(ctx, request, bindings[p.name])...)
		}
	}
	return request, all, nil
}

// bindTo returns an application for each parameter of each binding.
func (one application[P]) bindTo(ctx context.Context, r *match.Request, bindings []*binding) []application[P] {
	if err := checkParamKind(r.Store, one.policy.params); err != nil {
		one.fault = fmt.Errorf("failed to configure policy: %w", err)
		return []application[P]{one}
	}
	var all []application[P]
	for _, b := range bindings {
		one.binding, one.param, one.fault = b, nil, nil
		target, err := b.criteria.Match(ctx, r)
		if err == nil && target == nil {
			continue
		}
		var params []runtime.Object
		if err == nil {
			params, err = findParams(ctx, r, one.policy.params, b.params)
		}
		if err != nil {
			one.fault = fmt.Errorf("failed to configure binding: %w", err)
			all = append(all, one)
		}
		for _, param := range params {
			one.param = param
			all = append(all, one)
		}
	}
	return all
}

// id tells it from all others of its kind.
func (one *application[P]) id() string {
	param := ""
	if accessor, err := meta.Accessor(one.param); err == nil {
		param = accessor.GetNamespace() + "/" + accessor.GetName()
	}
	return one.policy.name + "/" + one.binding.name + "/" + param
}

// namespaceObject is what expressions know as that: of a namespace, nothing.
func namespaceObject(ctx context.Context, r *match.Request) (*corev1.Namespace, error) {
	if r.IsNamespace() {
		return nil, nil
	}
	return r.NamespaceObject(ctx)
}
