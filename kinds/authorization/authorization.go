// Package authorization holds the kinds of authorization.k8s.io: reviews of permissions, answered
// by the server's authorizer and never stored.
package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	local := definition("localsubjectaccessreviews", &authorizationv1.LocalSubjectAccessReview{})
	local.Namespaced = true
	return []*registry.Resource{
		local.BuildVirtual(features, registry.Virtual{Create: reviewLocalAccess}),
		definition("selfsubjectaccessreviews", &authorizationv1.SelfSubjectAccessReview{}).
			BuildVirtual(features, registry.Virtual{Create: reviewSelfAccess}),
		definition("selfsubjectrulesreviews", &authorizationv1.SelfSubjectRulesReview{}).
			BuildVirtual(features, registry.Virtual{Create: reviewSelfRules}),
		definition("subjectaccessreviews", &authorizationv1.SubjectAccessReview{}).
			BuildVirtual(features, registry.Virtual{Create: reviewAccess}),
	}
}

func definition[T kind.Object](resource string, object T) kind.Definition[T] {
	return kind.Definition[T]{
		GroupVersion: authorizationv1.SchemeGroupVersion,
		Object:       object,
		Resource:     resource,
		Verbs:        []string{"create"},
	}
}
