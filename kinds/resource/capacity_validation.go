package resource

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mostValues is how many amounts a policy may list.
const mostValues = 10

// validateCapacity is about how much of a device can be asked for, where more
// than one claim may have a share of it.
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

// validateValues wants the values in order, and the default among them.
func validateValues(values []resource.Quantity, standard, capacity resource.Quantity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	for i := 1; i < len(values); i++ {
		if values[i-1].Cmp(values[i]) > 0 {
			errs = append(errs, field.Invalid(at.Index(i), values[i].String(), "values must be sorted in ascending order"))
		}
	}
	errs = append(errs, each(values, mostValues, at, func(q resource.Quantity, at *field.Path) field.ErrorList {
		found = found || q.Cmp(standard) == 0
		if q.Cmp(capacity) > 0 {
			return field.ErrorList{field.Invalid(at, q.String(), "option is larger than capacity value: "+capacity.String())}
		}
		return nil
	})...)
	if len(values) <= mostValues {
		errs = append(errs, unique(values, at, func(q resource.Quantity) string { return fmt.Sprint(q.Value()) })...)
	}
	if !found {
		errs = append(errs, field.Invalid(at, standard.String(), "default value is not valid according to the requestPolicy"))
	}
	return errs
}

// validateRange wants the default between the ends of a range, and a whole
// number of steps from its beginning.
func validateRange(r *resourcev1.CapacityRequestPolicyRange, standard, capacity resource.Quantity, at *field.Path) field.ErrorList {
	if r.Min == nil {
		return field.ErrorList{field.Required(at.Child("min"), "required when validRange is defined")}
	}
	var errs field.ErrorList
	refuse := func(wrong bool, name string, q *resource.Quantity, message string, limit *resource.Quantity) {
		if wrong {
			errs = append(errs, field.Invalid(at.Child(name), q.String(), message+": "+limit.String()))
		}
	}
	refuse(r.Min.Cmp(capacity) > 0, "min", r.Min, "min is larger than capacity value", &capacity)
	refuse(standard.Cmp(*r.Min) < 0, "min", &standard, "default is less than min", r.Min)
	if r.Max != nil {
		refuse(r.Min.Cmp(*r.Max) > 0, "max", r.Min, "min is larger than max", r.Max)
		refuse(r.Max.Cmp(capacity) > 0, "max", r.Max, "max is larger than capacity value", &capacity)
		refuse(standard.Cmp(*r.Max) > 0, "max", &standard, "default is more than max", r.Max)
	}
	if r.Step == nil || r.Step.Value() == 0 {
		return errs
	}
	next := r.Min.DeepCopy()
	next.Add(*r.Step)
	refuse(next.Cmp(capacity) > 0, "step", r.Step, fmt.Sprintf("one step %s is larger than capacity value", next.String()), &capacity)
	steps := func(q *resource.Quantity) {
		if q != nil && (q.Value()-r.Min.Value())%r.Step.Value() != 0 {
			errs = append(errs, field.Invalid(at.Child("step"), q.String(),
				fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String())))
		}
	}
	steps(&standard)
	steps(r.Max)
	return errs
}
