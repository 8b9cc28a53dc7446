package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	systemPrefix  = "system-"
	highestOfUser = 1_000_000_000
)

// systemClasses are the values of the priority classes that kube-apiserver creates.
var systemClasses = map[string]int32{
	"system-cluster-critical": 2 * highestOfUser,
	"system-node-critical":    2*highestOfUser + 1000,
}

func validatePriorityClass(c *schedulingv1.PriorityClass) field.ErrorList {
	var errs field.ErrorList
	switch err := differsFromSystem(c); {
	case strings.HasPrefix(c.Name, systemPrefix) && err != "":
		errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
			"priority class names with 'system-' prefix are reserved for system use only. error: "+err))
	case !strings.HasPrefix(c.Name, systemPrefix) && c.Value > highestOfUser:
		errs = append(errs, field.Forbidden(field.NewPath("value"),
			fmt.Sprintf("maximum allowed value of a user defined priority is %d", highestOfUser)))
	}
	if c.PreemptionPolicy != nil {
		errs = append(errs, kind.OneOf(field.NewPath("preemptionPolicy"), *c.PreemptionPolicy,
			corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	return errs
}

// differsFromSystem returns the difference of a class from the system class of that name.
func differsFromSystem(c *schedulingv1.PriorityClass) string {
	value, ok := systemClasses[c.Name]
	switch {
	case !ok:
		return c.Name + " is not a known system priority class"
	case c.Value != value:
		return fmt.Sprintf("value of %s PriorityClass must be %d", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", c.Name)
	}
	return ""
}

// validatePriorityClassUpdate rejects changes of the values that pods copy.
func validatePriorityClassUpdate(c, old *schedulingv1.PriorityClass) field.ErrorList {
	var errs field.ErrorList
	if c.Value != old.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, kind.Immutable(field.NewPath("preemptionPolicy"), c.PreemptionPolicy, old.PreemptionPolicy)...)
}
