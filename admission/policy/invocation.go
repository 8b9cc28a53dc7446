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

// invocation is one evaluation of a policy for a request. There is one for each binding of the
// policy and each object of its params.
type invocation[P any] struct {
	policy  *policy[P]
	binding *binding // nil for an error of the policy
	target  *match.Target
	param   runtime.Object // nil without params
	// err is a configuration error: the policy cannot be evaluated.
	err error
}

// invocations returns the invocations for a request, ordered by the names of policies and
// bindings.
func (s *set[P]) invocations(ctx context.Context, a *registry.Attributes) (*match.Request, []invocation[P], error) {
	request, policies, bindings, err := s.bound(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	var all []invocation[P]
	for i := range policies {
		p := &policies[i]
		if len(bindings[p.name]) == 0 {
			continue
		}
		in := invocation[P]{policy: p}
		if in.target, err = p.criteria.Match(ctx, request); err != nil {
			in.err = fmt.Errorf("failed to configure policy: %w", err)
			all = append(all, in)
		} else if in.target != nil {
			all = append(all, in.bindTo(ctx, request, bindings[p.name])...)
		}
	}
	return request, all, nil
}

// bindTo returns an invocation for each object of the params of each binding.
func (in invocation[P]) bindTo(ctx context.Context, r *match.Request, bindings []*binding) []invocation[P] {
	if err := checkParamKind(r.Catalog, in.policy.params); err != nil {
		in.err = fmt.Errorf("failed to configure policy: %w", err)
		return []invocation[P]{in}
	}
	var all []invocation[P]
	for _, b := range bindings {
		in.binding, in.param, in.err = b, nil, nil
		target, err := b.criteria.Match(ctx, r)
		if err == nil && target == nil {
			continue
		}
		var params []runtime.Object
		if err == nil {
			params, err = findParams(ctx, r, in.policy.params, b.params)
		}
		if err != nil {
			in.err = fmt.Errorf("failed to configure binding: %w", err)
			all = append(all, in)
		}
		for _, param := range params {
			in.param = param
			all = append(all, in)
		}
	}
	return all
}

// id returns an identifier that is unique for the kind of policy.
func (in *invocation[P]) id() string {
	param := ""
	if accessor, err := meta.Accessor(in.param); err == nil {
		param = accessor.GetNamespace() + "/" + accessor.GetName()
	}
	return in.policy.name + "/" + in.binding.name + "/" + param
}

// namespaceObject returns the value of namespaceObject in expressions. It is null for requests for
// namespaces.
func namespaceObject(ctx context.Context, r *match.Request) (*corev1.Namespace, error) {
	if r.IsNamespace() {
		return nil, nil
	}
	return r.NamespaceObject(ctx)
}
