package api

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
)

// aggregatedKind is what a client asks for who wants all groups in one
// document.
const aggregatedKind = "APIGroupDiscoveryList"

// aggregatedDiscovery is one aggregated document.
//
// Invariant: it never changes after it is built.
type aggregatedDiscovery struct {
	etag    string // in quotes
	current *encoding.CachedObject
	// beta is the version before, which differs in nothing but its name. Few
	// clients still ask for it.
	beta func() *encoding.CachedObject
}

func newAggregatedDiscovery(groups []apidiscoveryv2.APIGroupDiscovery) *aggregatedDiscovery {
	current := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregatedKind, APIVersion: apidiscoveryv2.SchemeGroupVersion.String()},
		Items:    groups,
	}
	// Types without functions and channels always encode.
	document, _ := json.Marshal(current)
	return &aggregatedDiscovery{
		etag:    etagOf(document),
		current: encoding.NewCachedObject(current),
		beta: sync.OnceValue(func() *encoding.CachedObject {
			beta := &apidiscoveryv2beta1.APIGroupDiscoveryList{}
			_ = json.Unmarshal(document, beta)
			beta.APIVersion = apidiscoveryv2beta1.SchemeGroupVersion.String()
			return encoding.NewCachedObject(beta)
		}),
	}
}

// version of the document that a client asked for.
func (d *aggregatedDiscovery) version(gv schema.GroupVersion) *encoding.CachedObject {
	if gv == apidiscoveryv2beta1.SchemeGroupVersion {
		return d.beta()
	}
	return d.current
}

// etagOf names a content, in the quotes that the header wants.
func etagOf(content []byte) string {
	return strconv.Quote(fmt.Sprintf("%X", sha512.Sum512(content)))
}

// ofDiscovery is the restriction of endpoints which can be aggregated.
func ofDiscovery(_ *encoding.MediaType, as schema.GroupVersionKind) bool {
	if as.Empty() {
		return true
	}
	if as.Kind != aggregatedKind {
		return false
	}
	return as.GroupVersion() == apidiscoveryv2.SchemeGroupVersion || as.GroupVersion() == apidiscoveryv2beta1.SchemeGroupVersion
}
