package plugin

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// resources is what something asks for and is limited to.
type resources struct{ requests, limits corev1.ResourceList }

// podFaults holds a pod, or each of its containers, to a limit.
func podFaults(limit corev1.LimitRangeItem, spec *corev1.PodSpec) []error {
	switch limit.Type {
	case corev1.LimitTypePod:
		return rangeFaults(limit, resources{podResources(spec, requestsOf), podResources(spec, limitsOf)})
	case corev1.LimitTypeContainer:
		var faults []error
		for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
			faults = append(faults, rangeFaults(limit, resources{c.Resources.Requests, c.Resources.Limits})...)
		}
		return faults
	}
	return nil
}

// claimFaults looks at what a claim asks for alone: nothing limits a volume.
func claimFaults(limit corev1.LimitRangeItem, claim *corev1.PersistentVolumeClaim) []error {
	if limit.Type != corev1.LimitTypePersistentVolumeClaim {
		return nil
	}
	asked := resources{requests: claim.Spec.Resources.Requests}
	return slices.Concat(
		faultsOf(limit.Min, func(name corev1.ResourceName, bound resource.Quantity) error {
			return asked.below(limit.Type, name, bound)
		}),
		faultsOf(limit.Max, func(name corev1.ResourceName, bound resource.Quantity) error {
			return asked.requestAbove(limit.Type, name, bound)
		}))
}

func rangeFaults(limit corev1.LimitRangeItem, r resources) []error {
	return slices.Concat(
		faultsOf(limit.Min, func(name corev1.ResourceName, bound resource.Quantity) error { return r.below(limit.Type, name, bound) }),
		faultsOf(limit.Max, func(name corev1.ResourceName, bound resource.Quantity) error { return r.above(limit.Type, name, bound) }),
		faultsOf(limit.MaxLimitRequestRatio, func(name corev1.ResourceName, bound resource.Quantity) error {
			return r.apart(limit.Type, name, bound)
		}))
}

// faultsOf checks every bound, by name, so that the same faults always have the
// same text.
func faultsOf(bounds corev1.ResourceList, check func(corev1.ResourceName, resource.Quantity) error) []error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if err := check(name, bounds[name]); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// below tells what falls short of a minimum.
func (r resources) below(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, asked := r.requests[name]
	limit, limited := r.limits[name]
	text := fmt.Sprintf("minimum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !asked:
		return fmt.Errorf("%s.  No request is specified", text)
	case request.Cmp(bound) < 0:
		return fmt.Errorf("%s, but request is %s", text, request.String())
	case limited && limit.Cmp(bound) < 0:
		return fmt.Errorf("%s, but limit is %s", text, limit.String())
	}
	return nil
}

// above tells what goes beyond a maximum.
func (r resources) above(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	limit, limited := r.limits[name]
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !limited:
		return fmt.Errorf("%s.  No limit is specified", text)
	case limit.Cmp(bound) > 0:
		return fmt.Errorf("%s, but limit is %s", text, limit.String())
	}
	if _, asked := r.requests[name]; !asked {
		return nil
	}
	return r.requestAbove(of, name, bound)
}

func (r resources) requestAbove(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, asked := r.requests[name]
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !asked:
		return fmt.Errorf("%s.  No request is specified", text)
	case request.Cmp(bound) > 0:
		return fmt.Errorf("%s, but request is %s", text, request.String())
	}
	return nil
}

// apart tells whether a limit is more than so many times the request.
func (r resources) apart(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, limit := r.requests[name], r.limits[name]
	text := fmt.Sprintf("%s max limit to request ratio per %s is %s", name, of, bound.String())
	switch {
	case request.IsZero():
		return fmt.Errorf("%s, but no request is specified or request is 0", text)
	case limit.IsZero():
		return fmt.Errorf("%s, but no limit is specified or limit is 0", text)
	}
	if ratio := limit.AsApproximateFloat64() / request.AsApproximateFloat64(); ratio > bound.AsApproximateFloat64() {
		return fmt.Errorf("%s, but provided ratio is %f", text, ratio)
	}
	return nil
}
