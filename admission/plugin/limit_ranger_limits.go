package plugin

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/miniapi/miniapi/internal/resourcelist"
)

// resources holds the requests and limits of a pod, a container or a claim.
type resources struct{ requests, limits corev1.ResourceList }

// checkPodLimits checks a pod, or each of its containers, against a limit.
func checkPodLimits(limit corev1.LimitRangeItem, spec *corev1.PodSpec) []error {
	switch limit.Type {
	case corev1.LimitTypePod:
		return checkLimit(limit, resources{
			requests: resourcelist.OfPod(spec, resourcelist.Requests), limits: resourcelist.OfPod(spec, resourcelist.Limits),
		})
	case corev1.LimitTypeContainer:
		var errs []error
		for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
			errs = append(errs, checkLimit(limit, resources{c.Resources.Requests, c.Resources.Limits})...)
		}
		return errs
	}
	return nil
}

// checkClaimLimits checks only the requests of a claim, because volumes have no limits.
func checkClaimLimits(limit corev1.LimitRangeItem, claim *corev1.PersistentVolumeClaim) []error {
	if limit.Type != corev1.LimitTypePersistentVolumeClaim {
		return nil
	}
	claimed := resources{requests: claim.Spec.Resources.Requests}
	return slices.Concat(
		checkBounds(limit.Min, func(name corev1.ResourceName, bound resource.Quantity) error {
			return claimed.checkMin(limit.Type, name, bound)
		}),
		checkBounds(limit.Max, func(name corev1.ResourceName, bound resource.Quantity) error {
			return claimed.checkMaxRequest(limit.Type, name, bound)
		}))
}

func checkLimit(limit corev1.LimitRangeItem, r resources) []error {
	return slices.Concat(
		checkBounds(limit.Min, func(name corev1.ResourceName, bound resource.Quantity) error {
			return r.checkMin(limit.Type, name, bound)
		}),
		checkBounds(limit.Max, func(name corev1.ResourceName, bound resource.Quantity) error {
			return r.checkMax(limit.Type, name, bound)
		}),
		checkBounds(limit.MaxLimitRequestRatio, func(name corev1.ResourceName, bound resource.Quantity) error {
			return r.checkRatio(limit.Type, name, bound)
		}))
}

// checkBounds checks all bounds, in the order of their names to make the error text deterministic.
func checkBounds(bounds corev1.ResourceList, check func(corev1.ResourceName, resource.Quantity) error) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if err := check(name, bounds[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// checkMin returns an error if the request or the limit is below a minimum.
func (r resources) checkMin(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, requested := r.requests[name]
	limit, limited := r.limits[name]
	text := fmt.Sprintf("minimum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !requested:
		return fmt.Errorf("%s.  No request is specified", text)
	case request.Cmp(bound) < 0:
		return fmt.Errorf("%s, but request is %s", text, request.String())
	case limited && limit.Cmp(bound) < 0:
		return fmt.Errorf("%s, but limit is %s", text, limit.String())
	}
	return nil
}

// checkMax returns an error if the limit or the request is above a maximum.
func (r resources) checkMax(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	limit, limited := r.limits[name]
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !limited:
		return fmt.Errorf("%s.  No limit is specified", text)
	case limit.Cmp(bound) > 0:
		return fmt.Errorf("%s, but limit is %s", text, limit.String())
	}
	if _, requested := r.requests[name]; !requested {
		return nil
	}
	return r.checkMaxRequest(of, name, bound)
}

func (r resources) checkMaxRequest(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, requested := r.requests[name]
	text := fmt.Sprintf("maximum %s usage per %s is %s", name, of, bound.String())
	switch {
	case !requested:
		return fmt.Errorf("%s.  No request is specified", text)
	case request.Cmp(bound) > 0:
		return fmt.Errorf("%s, but request is %s", text, request.String())
	}
	return nil
}

// checkRatio returns an error if the ratio of limit to request is above a maximum.
func (r resources) checkRatio(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
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
