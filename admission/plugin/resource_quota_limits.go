package plugin

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/install"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/validation"
)

// parseQuotaLimits decodes and validates a configuration, which may be empty.
func parseQuotaLimits(data []byte) ([]resourcequota.LimitedResource, error) {
	if data == nil {
		return nil, nil
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	obj, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), data)
	if err != nil {
		return nil, err
	}
	config, ok := obj.(*resourcequota.Configuration)
	if !ok {
		return nil, fmt.Errorf("unexpected type: %T", obj)
	}
	return config.LimitedResources, validation.ValidateConfiguration(config).ToAggregate()
}

// checkCovered returns an error if the usage or a scope of the object is limited and no quota
// covers it.
func (c charge) checkCovered(quotas []*corev1.ResourceQuota, limits []resourcequota.LimitedResource) error {
	if len(limits) == 0 {
		return nil
	}
	var matching []*corev1.ResourceQuota
	var names []corev1.ResourceName
	var scopes []corev1.ScopedResourceSelectorRequirement
	for _, quota := range quotas {
		scopes = append(scopes, c.evaluator.ScopesOf(quota, c.attributes.Object)...)
		counted, err := c.counted(quota)
		if err != nil {
			return err
		}
		if len(counted) > 0 {
			matching, names = append(matching, quota), append(names, counted...)
		}
	}
	if changed, err := c.changesUsage(matching); err != nil || !changed {
		return err
	}
	uncovered := slices.DeleteFunc(c.limitedNames(limits), func(name corev1.ResourceName) bool { return slices.Contains(names, name) })
	if len(uncovered) > 0 {
		return forbidden(c.attributes, fmt.Errorf("insufficient quota to consume: %s", joinNames(uncovered)))
	}
	if uncovered := c.uncoveredScopes(limits, scopes); len(uncovered) > 0 {
		// A plain error, and so a 500, as kube-apiserver answers.
		return fmt.Errorf("insufficient quota to match these scopes: %v", uncovered)
	}
	return nil
}

// changesUsage reports whether the write changes the usage that one of the matching quotas counts.
// Without such a quota all usage counts.
func (c charge) changesUsage(matching []*corev1.ResourceQuota) (bool, error) {
	if len(matching) == 0 {
		usage, err := c.usage(c.attributes.OldObject)
		return isPositive(usage), err
	}
	for _, quota := range matching {
		usage, err := c.usage(c.previous(quota))
		if err != nil || isPositive(usage) {
			return err == nil, err
		}
	}
	return false, nil
}

func isPositive(usage corev1.ResourceList) bool {
	for _, quantity := range usage {
		if quantity.Sign() > 0 {
			return true
		}
	}
	return false
}

// limitedNames returns the names of the usage that a quota must cover, sorted.
func (c charge) limitedNames(limits []resourcequota.LimitedResource) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name, quantity := range c.evaluator.Usage(c.attributes.Object, c.attributes.Catalog.Now()) {
		isLimited := func(limit resourcequota.LimitedResource) bool {
			return schema.GroupResource{Group: limit.APIGroup, Resource: limit.Resource} == c.attributes.Resource.GroupResource() &&
				slices.ContainsFunc(limit.MatchContains, func(part string) bool { return strings.Contains(string(name), part) })
		}
		if quantity.Sign() > 0 && slices.ContainsFunc(limits, isLimited) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// uncoveredScopes returns the limited scopes that include the object and are not among the scopes
// of quotas. As in kube-apiserver, the limits of all resources apply.
func (c charge) uncoveredScopes(
	limits []resourcequota.LimitedResource, covered []corev1.ScopedResourceSelectorRequirement,
) []corev1.ScopedResourceSelectorRequirement {
	var uncovered []corev1.ScopedResourceSelectorRequirement
	for _, limit := range limits {
		for _, scope := range c.evaluator.ScopesIncluding(limit.MatchScopes, c.attributes.Object) {
			hasName := func(s corev1.ScopedResourceSelectorRequirement) bool { return s.ScopeName == scope.ScopeName }
			if !slices.ContainsFunc(covered, hasName) {
				uncovered = append(uncovered, scope)
			}
		}
	}
	return uncovered
}
