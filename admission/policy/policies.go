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
	"github.com/miniapi/miniapi/registry/informer"
)

var (
	validatingPolicies = admissionregistrationv1.Resource("validatingadmissionpolicies")
	validatingBindings = admissionregistrationv1.Resource("validatingadmissionpolicybindings")
	mutatingPolicies   = admissionregistrationv1.Resource("mutatingadmissionpolicies")
	mutatingBindings   = admissionregistrationv1.Resource("mutatingadmissionpolicybindings")
)

// Config configures Policies.
type Config struct {
	// Store returns the stores of policies and bindings, see informer.Config.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Logger logs policies that cannot be type-checked. Nil: no logs.
	Logger *slog.Logger
	// Sync blocks until the catalog serves every resource defined before the call. Nil: the
	// resources of the catalog do not change.
	Sync func(ctx context.Context)
}

// Policies applies the admission policies of one server. It is safe for concurrent use.
type Policies struct {
	log        *slog.Logger
	sync       func(ctx context.Context)
	validating set[*validator]
	mutating   set[*mutator]
}

// set holds one kind of policies and their bindings.
type set[P any] struct {
	policies *source.Source[policy[P]]
	bindings *source.Source[*binding]
}

// policy is a policy of either kind. P is its compiled form.
type policy[P any] struct {
	name     string
	criteria *match.Criteria
	params   *admissionregistrationv1.ParamKind
	failOpen bool
	// program is compiled on first use.
	program func() P
}

// binding is a binding of either kind of policy.
type binding struct {
	name, policy string
	criteria     *match.Criteria
	params       *admissionregistrationv1.ParamRef
	actions      []admissionregistrationv1.ValidationAction
}

// New returns the policies of a server. It starts no goroutine.
func New(config Config) *Policies {
	return &Policies{
		log:  cmp.Or(config.Logger, slog.New(slog.DiscardHandler)),
		sync: config.Sync,
		validating: set[*validator]{
			source.New(config.informer(validatingPolicies), newValidatingPolicy),
			source.New(config.informer(validatingBindings), newValidatingBinding),
		},
		mutating: set[*mutator]{
			source.New(config.informer(mutatingPolicies), newMutatingPolicy),
			source.New(config.informer(mutatingBindings), newMutatingBinding),
		},
	}
}

func (c Config) informer(resource schema.GroupResource) informer.Config {
	return informer.Config{Resource: resource, Lookup: c.Store, Logger: c.Logger}
}

// Run watches the policies and bindings until ctx ends, and returns nil then.
func (p *Policies) Run(ctx context.Context) error {
	return informer.RunAll(ctx, p.validating.policies, p.validating.bindings, p.mutating.policies, p.mutating.bindings)
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

// bound returns the request, the policies, and the bindings by the name of their policy. They are
// nil without policies and for requests that are exempt from policies.
func (s *set[P]) bound(ctx context.Context, a *registry.Attributes) (*match.Request, []policy[P], map[string][]*binding, error) {
	policies, err := s.policies.Current(ctx)
	if err != nil || len(policies) == 0 {
		return nil, nil, nil, err
	}
	request, ok := match.NewRequest(a)
	if !ok {
		return nil, nil, nil, nil
	}
	all, err := s.bindings.Current(ctx)
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
