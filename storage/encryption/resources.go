package encryption

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/apiserver"
)

// anyResource is the rule *.*, which applies to all resources of all groups.
var anyResource = schema.GroupResource{Group: "*", Resource: "*"}

// resourceOf returns the resource of a key, and the zero value for keys that belong to no resource,
// such as the allocations of addresses. These are never encrypted.
func (c *Config) resourceOf(key string) schema.GroupResource {
	path := strings.TrimPrefix(strings.TrimPrefix(key, c.Prefix), "/")
	first, rest, _ := strings.Cut(path, "/")
	second, _, _ := strings.Cut(rest, "/")
	if resource, ok := c.Resources[path[:min(len(path), len(first)+1+len(second))]]; ok {
		return resource
	}
	if resource, ok := c.Resources[first]; ok {
		return resource
	}
	if strings.Contains(first, ".") { // as of custom resources, whose definition may be read later
		return schema.GroupResource{Group: first, Resource: second}
	}
	return schema.GroupResource{}
}

// rules have the value of a resource or wildcard.
type rules[T any] map[schema.GroupResource]T

// find returns the value of the most specific rule for a resource.
func (r rules[T]) find(resource schema.GroupResource) (value T, ok bool) {
	if resource == (schema.GroupResource{}) {
		return value, false
	}
	for _, rule := range []schema.GroupResource{resource, {Group: resource.Group, Resource: "*"}, anyResource} {
		if value, ok = r[rule]; ok {
			return value, true
		}
	}
	return value, false
}

// validateMasks returns errors for the resources that an earlier wildcard includes. kube-apiserver
// reports them too when it builds the transformers.
func validateMasks(config *apiserver.EncryptionConfiguration) field.ErrorList {
	var errs field.ErrorList
	seen := rules[bool]{}
	for i, entry := range config.Resources {
		for j, name := range entry.Resources {
			resource := schema.ParseGroupResource(name)
			for _, mask := range []schema.GroupResource{{Group: resource.Group, Resource: "*"}, anyResource} {
				if seen[mask] {
					path := field.NewPath("resources").Index(i).Child("resources").Index(j)
					errs = append(errs, field.Invalid(path, name, "resource is masked by earlier rule \""+ruleName(mask)+"\""))
					break
				}
			}
			seen[resource] = true
		}
	}
	return errs
}

// ruleName returns the name of a rule as it is written in the file.
func ruleName(rule schema.GroupResource) string {
	if rule.Group == "" && rule.Resource == "*" {
		return "*."
	}
	return rule.String()
}
