package policy

import (
	"cmp"
	"context"
	"log/slog"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/admission/source"
	"github.com/miniapi/miniapi/registry"
)

var (
	validatingPolicies = admissionregistrationv1.Resource("validatingadmissionpolicies")
	validatingBindings = admissionregistrationv1.Resource("validatingadmissionpolicybindings")
	mutatingPolicies   = admissionregistrationv1.Resource("mutatingadmissionpolicies")
	mutatingBindings   = admissionregistrationv1.Resource("mutatingadmissionpolicybindings")
)

// Config of policies.
type Config struct {
	// Logger is told what an audit log would be. Nil: nobody is.
	Logger *slog.Logger
	// Settle returns when the catalog has what was defined before the call. Nil:
	// it always has.
	Settle func(ctx context.Context)
}

// Policies are those of one server. Safe for concurrent use.
type Policies struct {
	log        *slog.Logger
	settle     func(ctx context.Context)
	validating set[*validating]
	mutating   set[*mutating]
}

// set is one kind of policies with its bindings.
type set[P any] struct {
	policies *source.Source[policy[P]]
	bindings *source.Source[*binding]
}

// policy is what policies of both kinds are applied by.
type policy[P any] struct {
	name     string
	criteria *match.Criteria
	params   *admissionregistrationv1.ParamKind
	failOpen bool
	// program is compiled on first use.
	program func() P
}

// binding is where a policy counts.
type binding struct {
	name, policy string
	criteria     *match.Criteria
	params       *admissionregistrationv1.ParamRef
	actions      []admissionregistrationv1.ValidationAction
}

// New returns the policies of a server. It starts nothing.
func New(config Config) *Policies {
	return &Policies{
		log:    cmp.Or(config.Logger, slog.New(slog.DiscardHandler)),
		settle: config.Settle,
		validating: set[*validating]{
			source.New(validatingPolicies, newValidating),
			source.New(validatingBindings, newValidatingBinding),
		},
		mutating: set[*mutating]{
			source.New(mutatingPolicies, newMutating),
			source.New(mutatingBindings, newMutatingBinding),
		},
	}
}

// Hooks returns the hooks of policies and bindings. They check that the user may read the params
// that a write refers to, and type-check the expressions.
func (p *Policies) Hooks() map[schema.GroupResource]registry.Hooks {
	return map[schema.GroupResource]registry.Hooks{
		validatingPolicies: {Validate: validatePolicyAccess, Complete: p.complete},
		validatingBindings: {Validate: validateBindingAccess},
		mutatingPolicies:   {Validate: validatePolicyAccess},
		mutatingBindings:   {Validate: validateBindingAccess},
	}
}

// bound are policies with the bindings that name them, and a write that they may
// be about; none of them if there is nothing to do.
func (s *set[P]) bound(ctx context.Context, a *registry.Attributes) (*match.Request, []policy[P], map[string][]*binding, error) {
	policies, err := s.policies.Current(ctx, a.Store)
	if err != nil || len(policies) == 0 {
		return nil, nil, nil, err
	}
	request, ok := match.NewRequest(a)
	if !ok {
		return nil, nil, nil, nil
	}
	all, err := s.bindings.Current(ctx, a.Store)
	if err != nil {
		return nil, nil, nil, err
	}
	byPolicy := map[string][]*binding{}
	for _, b := range all {
		byPolicy[b.policy] = append(byPolicy[b.policy], b)
	}
	return request, policies, byPolicy, nil
}

func newValidatingBinding(obj runtime.Object) *binding {
	b := obj.(*admissionregistrationv1.ValidatingAdmissionPolicyBinding)
	return &binding{
		name: b.Name, policy: b.Spec.PolicyName, params: b.Spec.ParamRef,
		criteria: match.ForResources(b.Spec.MatchResources), actions: b.Spec.ValidationActions,
	}
}

func newMutatingBinding(obj runtime.Object) *binding {
	b := obj.(*admissionregistrationv1.MutatingAdmissionPolicyBinding)
	return &binding{
		name: b.Name, policy: b.Spec.PolicyName, params: b.Spec.ParamRef,
		criteria: match.ForResources(b.Spec.MatchResources),
	}
}

func failsOpen(policy *admissionregistrationv1.FailurePolicyType) bool {
	return policy != nil && *policy == admissionregistrationv1.Ignore
}
