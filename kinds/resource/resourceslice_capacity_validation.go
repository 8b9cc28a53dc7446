package resource

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mostValues is the maximum number of values of a policy.
const mostValues = 10

// validateCapacity validates the policy for requests of a part of a device, which several claims
// share.
func validateCapacity(c resourcev1.DeviceCapacity, shared bool, at *field.Path) field.ErrorList {
	policy, at := c.RequestPolicy, at.Child("requestPolicy")
	needsDefault := func(name string) field.ErrorList {
		return field.ErrorList{field.Required(at.Child("default"), "required when "+name+" is defined")}
	}
	switch values, within := policy != nil && len(policy.ValidValues) > 0, policy != nil && policy.ValidRange != nil; {
	case policy == nil:
		return nil
	case !shared:
		return field.ErrorList{field.Forbidden(at, "allowMultipleAllocations must be true")}
	case values && within:
		return field.ErrorList{field.Forbidden(at, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)}
	case values && policy.Default == nil:
		return needsDefault("validValues")
	case values:
		return validateValues(policy.ValidValues, *policy.Default, c.Value, at.Child("validValues"))
	case within && policy.Default == nil:
		return needsDefault("validRange")
	case within:
		return validateRange(policy.ValidRange, *policy.Default, c.Value, at.Child("validRange"))
	}
	return nil
}

// validateValues requires sorted values that include the default.
func validateValues(values []resource.Quantity, defaultValue, capacity resource.Quantity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	for i := 1; i < len(values); i++ {
		if values[i-1].Cmp(values[i]) > 0 {
			errs = append(errs, field.Invalid(at.Index(i), values[i].String(), "values must be sorted in ascending order"))
		}
	}
	errs = append(errs, each(values, mostValues, at, func(q resource.Quantity, at *field.Path) field.ErrorList {
		found = found || q.Cmp(defaultValue) == 0
		if q.Cmp(capacity) > 0 {
			return field.ErrorList{field.Invalid(at, q.String(), "option is larger than capacity value: "+capacity.String())}
		}
		return nil
	})...)
	if len(values) <= mostValues {
		errs = append(errs, unique(values, at, func(q resource.Quantity) string { return fmt.Sprint(q.Value()) })...)
	}
	if !found {
		errs = append(errs, field.Invalid(at, defaultValue.String(), "default value is not valid according to the requestPolicy"))
	}
	return errs
}

// validateRange requires a default within the range that is a whole number of steps above its
// minimum.
func validateRange(r *resourcev1.CapacityRequestPolicyRange, defaultValue, capacity resource.Quantity, at *field.Path) field.ErrorList {
	if r.Min == nil {
		return field.ErrorList{field.Required(at.Child("min"), "required when validRange is defined")}
	}
	var errs field.ErrorList
	reject := func(wrong bool, name string, q *resource.Quantity, message string, limit *resource.Quantity) {
		if wrong {
			errs = append(errs, field.Invalid(at.Child(name), q.String(), message+": "+limit.String()))
		}
	}
	reject(r.Min.Cmp(capacity) > 0, "min", r.Min, "min is larger than capacity value", &capacity)
	reject(defaultValue.Cmp(*r.Min) < 0, "min", &defaultValue, "default is less than min", r.Min)
	if r.Max != nil {
		reject(r.Min.Cmp(*r.Max) > 0, "max", r.Min, "min is larger than max", r.Max)
		reject(r.Max.Cmp(capacity) > 0, "max", r.Max, "max is larger than capacity value", &capacity)
		reject(defaultValue.Cmp(*r.Max) > 0, "max", &defaultValue, "default is more than max", r.Max)
	}
	if r.Step == nil || r.Step.Value() == 0 {
		return errs
	}
	next := r.Min.DeepCopy()
	next.Add(*r.Step)
	reject(next.Cmp(capacity) > 0, "step", r.Step, fmt.Sprintf("one step %s is larger than capacity value", next.String()), &capacity)
	steps := func(q *resource.Quantity) {
		if q != nil && (q.Value()-r.Min.Value())%r.Step.Value() != 0 {
			errs = append(errs, field.Invalid(at.Child("step"), q.String(),
				fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String())))
		}
	}
	steps(&defaultValue)
	steps(r.Max)
	return errs
}
