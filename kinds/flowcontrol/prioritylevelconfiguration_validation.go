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
		errs = append(errs, field.Invalid(spec.Child("type"), l.Spec.Type, "type must be 'Exempt' if and only if name is 'exempt'"))
	}
	switch l.Spec.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		if l.Spec.Limited != nil {
			errs = append(errs, kind.ByTag(field.ErrorList{field.Forbidden(spec.Child("limited"), "must be nil if the type is not Limited")})...)
		}
		errs = append(errs, validateExempt(l.Spec.Exempt, spec.Child("exempt"))...)
	case flowcontrolv1.PriorityLevelEnablementLimited:
		if l.Spec.Exempt != nil {
			errs = append(errs, kind.ByTag(field.ErrorList{field.Forbidden(spec.Child("exempt"), "must be nil if the type is Limited")})...)
		}
		errs = append(errs, validateLimited(l.Spec.Limited, spec.Child("limited"))...)
	case "":
		errs = append(errs, field.Required(spec.Child("type"), ""))
	default:
		errs = append(errs, kind.Supported(spec.Child("type"), l.Spec.Type,
			flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited)...)
	}
	return append(errs, validateLevelStatus(l, nil)...)
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
		return field.ErrorList{field.Required(at, "must not be empty when type is Limited")}
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
	queuing := at.Child("queuing")
	switch {
	case r.Type == flowcontrolv1.LimitResponseTypeReject && r.Queuing != nil:
		return kind.ByTag(field.ErrorList{field.Forbidden(queuing, "must be nil if limited.limitResponse.type is not Limited")})
	case r.Type == flowcontrolv1.LimitResponseTypeQueue && r.Queuing == nil:
		return kind.ByTag(field.ErrorList{field.Required(queuing, "must not be empty if limited.limitResponse.type is Limited")})
	case r.Type == flowcontrolv1.LimitResponseTypeQueue:
		return validateQueuing(r.Queuing, queuing)
	case r.Type == "":
		return field.ErrorList{field.Required(at.Child("type"), "")}
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
