package api

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"strconv"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// aggregatedKind is what a client asks for who wants all groups in one
// document.
const aggregatedKind = "APIGroupDiscoveryList"

// aggregatedDiscovery is one aggregated document.
//
// Invariant: it never changes after it is built.
type aggregatedDiscovery struct {
	etag     string // in quotes
	versions map[schema.GroupVersion]*prepared
}

func newAggregatedDiscovery(groups []apidiscoveryv2.APIGroupDiscovery) *aggregatedDiscovery {
	// Types without functions and channels always encode.
	items, _ := json.Marshal(groups)
	// The two versions differ in nothing but their name.
	current := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregatedKind, APIVersion: apidiscoveryv2.SchemeGroupVersion.String()},
		Items:    groups,
	}
	beta := &apidiscoveryv2beta1.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregatedKind, APIVersion: apidiscoveryv2beta1.SchemeGroupVersion.String()},
	}
	_ = json.Unmarshal(items, &beta.Items)
	return &aggregatedDiscovery{
		etag: etagOf(items),
		versions: map[schema.GroupVersion]*prepared{
			apidiscoveryv2.SchemeGroupVersion:      newPrepared(current),
			apidiscoveryv2beta1.SchemeGroupVersion: newPrepared(beta),
		},
	}
}

// etagOf names a content, in the quotes that the header wants.
func etagOf(content []byte) string {
	return strconv.Quote(fmt.Sprintf("%X", sha512.Sum512(content)))
}

// ofDiscovery is the restriction of endpoints which can be aggregated.
func ofDiscovery(_ *media, as schema.GroupVersionKind) bool {
	if as.Empty() {
		return true
	}
	if as.Kind != aggregatedKind {
		return false
	}
	return as.GroupVersion() == apidiscoveryv2.SchemeGroupVersion || as.GroupVersion() == apidiscoveryv2beta1.SchemeGroupVersion
}
