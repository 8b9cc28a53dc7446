// Package authentication holds the kinds of authentication.k8s.io: reviews of identities, answered
// and never stored.
package authentication

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{
		review("selfsubjectreviews", &authenticationv1.SelfSubjectReview{}, registry.Virtual{Create: reviewSelf}),
		review("tokenreviews", &authenticationv1.TokenReview{}, registry.Virtual{Create: reviewToken}),
	}
}

func review[T kind.Object](resource string, object T, virtual registry.Virtual) *registry.Resource {
	return kind.Definition[T]{
		GroupVersion: authenticationv1.SchemeGroupVersion,
		Object:       object,
		Resource:     resource,
		Verbs:        []string{"create"},
	}.BuildVirtual(virtual)
}
