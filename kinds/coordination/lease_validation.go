package coordination

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateLease(l *coordinationv1.Lease) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if n := l.Spec.LeaseDurationSeconds; n != nil && *n <= 0 {
		errs = append(errs, field.Invalid(spec.Child("leaseDurationSeconds"), *n, "must be greater than 0"))
	}
	if n := l.Spec.LeaseTransitions; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(spec.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	if s := l.Spec.Strategy; s != nil {
		errs = append(errs, validateStrategy(*s, spec.Child("strategy", "strategy"))...)
	}
	if h := l.Spec.PreferredHolder; h != nil && *h != "" && l.Spec.Strategy == nil {
		errs = append(errs, field.Forbidden(spec.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return errs
}

// validateStrategy requires a strategy of Kubernetes, or a name with a domain.
func validateStrategy(s coordinationv1.CoordinatedLeaseStrategy, at *field.Path) field.ErrorList {
	if strings.Contains(string(s), "/") {
		return kind.Invalid(at, s, utilvalidation.IsQualifiedName(string(s)))
	}
	return kind.Supported(at, s, coordinationv1.OldestEmulationVersion)
}
