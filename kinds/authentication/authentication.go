// Package authentication holds the kinds of authentication.k8s.io: reviews of identities, answered
// and never stored.
package authentication

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		review(features, "selfsubjectreviews", &authenticationv1.SelfSubjectReview{}, registry.Virtual{Create: reviewSelf}),
		review(features, "tokenreviews", &authenticationv1.TokenReview{}, registry.Virtual{Create: reviewToken}),
	}
}

func review[T kind.Object](features *feature.Set, resource string, object T, virtual registry.Virtual) *registry.Resource {
	return kind.Definition[T]{
		GroupVersion: authenticationv1.SchemeGroupVersion,
		Object:       object,
		Resource:     resource,
		Verbs:        []string{"create"},
	}.BuildVirtual(features, virtual)
}
