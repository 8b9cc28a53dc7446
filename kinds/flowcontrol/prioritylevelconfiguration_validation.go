package flowcontrol

import (
	"fmt"
	"math"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	mostQueues  = 10_000_000
	entropyBits = 60 // of the hash that selects the queues of a flow
	noNegative  = "must be a non-negative integer"
	percentage  = "must be between 0 and 100, inclusive"
)

func validateLevel(l *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if (l.Name == exempt) != (l.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt) {
		errs = append(errs, field.Invalid(spec.Child("type"), l.Spec.Type, "must be 'Exempt' if and only if `name` is 'exempt'"))
	}
	switch l.Spec.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		errs = append(errs, validateExempt(l.Spec.Exempt, spec.Child("exempt"))...)
	case flowcontrolv1.PriorityLevelEnablementLimited:
		errs = append(errs, validateLimited(l.Spec.Limited, spec.Child("limited"))...)
	case "": // validateLevelMembers requires a type
	default:
		errs = append(errs, kind.Supported(spec.Child("type"), l.Spec.Type,
			flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited)...)
	}
	return slices.Concat(errs,
		validateMandatoryLevel(l, spec),
		kind.ByTag(validateLevelMembers(&l.Spec, spec)),
		validateLevelStatus(l, nil),
	)
}

// validateLevelMembers requires the type, and the members that belong to the type.
func validateLevelMembers(s *flowcontrolv1.PriorityLevelConfigurationSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	limited := s.Type == flowcontrolv1.PriorityLevelEnablementLimited
	if s.Exempt != nil && s.Type != flowcontrolv1.PriorityLevelEnablementExempt {
		errs = append(errs, field.Forbidden(at.Child("exempt"), "must be nil if the type is Limited"))
	}
	if s.Limited != nil && !limited {
		errs = append(errs, field.Forbidden(at.Child("limited"), "must be nil if the type is not Limited"))
	}
	if s.Limited == nil && limited {
		errs = append(errs, field.Required(at.Child("limited"), "must not be empty when type is Limited"))
	}
	errs = append(errs, kind.Required(at.Child("type"), string(s.Type))...)
	if s.Limited != nil {
		errs = append(errs, validateResponseMembers(&s.Limited.LimitResponse, at.Child("limited", "limitResponse"))...)
	}
	return errs
}

func validateResponseMembers(r *flowcontrolv1.LimitResponse, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	queued := r.Type == flowcontrolv1.LimitResponseTypeQueue
	if r.Queuing != nil && !queued {
		errs = append(errs, field.Forbidden(at.Child("queuing"), "must be nil if limited.limitResponse.type is not Limited"))
	}
	if r.Queuing == nil && queued {
		errs = append(errs, field.Required(at.Child("queuing"), "must not be empty if limited.limitResponse.type is Limited"))
	}
	return append(errs, kind.Required(at.Child("type"), string(r.Type))...)
}

func validateExempt(e *flowcontrolv1.ExemptPriorityLevelConfiguration, at *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	return slices.Concat(
		validateShares(e.NominalConcurrencyShares, at.Child("nominalConcurrencyShares")),
		validatePercent(e.LendablePercent, at.Child("lendablePercent")),
	)
}

func validateLimited(l *flowcontrolv1.LimitedPriorityLevelConfiguration, at *field.Path) field.ErrorList {
	if l == nil {
		return nil
	}
	errs := slices.Concat(
		validateShares(l.NominalConcurrencyShares, at.Child("nominalConcurrencyShares")),
		validateResponse(&l.LimitResponse, at.Child("limitResponse")),
		validatePercent(l.LendablePercent, at.Child("lendablePercent")),
	)
	if n := l.BorrowingLimitPercent; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(at.Child("borrowingLimitPercent"), *n, "if specified, "+noNegative))
	}
	return errs
}

func validateShares(n *int32, at *field.Path) field.ErrorList {
	if n == nil || *n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *n, noNegative)}
}

func validatePercent(n *int32, at *field.Path) field.ErrorList {
	if n == nil || *n >= 0 && *n <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *n, percentage)}
}

func validateResponse(r *flowcontrolv1.LimitResponse, at *field.Path) field.ErrorList {
	switch {
	case r.Type == flowcontrolv1.LimitResponseTypeQueue && r.Queuing != nil:
		return validateQueuing(r.Queuing, at.Child("queuing"))
	case r.Type == "":
		return nil
	}
	return kind.Supported(at.Child("type"), r.Type, flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject)
}

func validateQueuing(q *flowcontrolv1.QueuingConfiguration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if q.QueueLengthLimit <= 0 {
		errs = append(errs, field.Invalid(at.Child("queueLengthLimit"), q.QueueLengthLimit, "must be positive"))
	}
	switch {
	case q.Queues <= 0:
		errs = append(errs, field.Invalid(at.Child("queues"), q.Queues, "must be positive"))
	case q.Queues > mostQueues:
		errs = append(errs, field.Invalid(at.Child("queues"), q.Queues, fmt.Sprintf("must not be greater than %d", mostQueues)))
	}
	hand := at.Child("handSize")
	switch bits := math.Ceil(math.Log2(float64(q.Queues)) * float64(q.HandSize)); {
	case q.HandSize <= 0:
		errs = append(errs, field.Invalid(hand, q.HandSize, "must be positive"))
	case q.HandSize > q.Queues:
		errs = append(errs, field.Invalid(hand, q.HandSize, fmt.Sprintf("should not be greater than queues (%d)", q.Queues)))
	case bits > entropyBits:
		errs = append(errs, field.Invalid(hand, q.HandSize, fmt.Sprintf(
			"required entropy bits of deckSize %d and handSize %d should not be greater than %d", q.Queues, q.HandSize, entropyBits)))
	}
	return errs
}

func validateLevelStatus(l, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	return validateConditions(l.Status.Conditions, func(c flowcontrolv1.PriorityLevelConfigurationCondition) string { return string(c.Type) })
}
