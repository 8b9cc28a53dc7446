package discovery

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

// aggregatedKind is the kind that a client requests for all groups in one document.
const aggregatedKind = "APIGroupDiscoveryList"

// aggregatedDiscovery is the aggregated document of /api or /apis.
//
// Invariant: it is immutable.
type aggregatedDiscovery struct {
	etag    string // in quotes
	v2      *encoding.CachedObject
	v2beta1 func() *encoding.CachedObject // built on request, because few clients use it
}

func newAggregatedDiscovery(groups []apidiscoveryv2.APIGroupDiscovery) *aggregatedDiscovery {
	v2 := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregatedKind, APIVersion: apidiscoveryv2.SchemeGroupVersion.String()},
		Items:    groups,
	}
	// Encoding cannot fail: the type has neither functions nor channels.
	document, _ := json.Marshal(v2)
	return &aggregatedDiscovery{
		etag: ETag(document),
		v2:   encoding.NewCachedObject(v2),
		v2beta1: sync.OnceValue(func() *encoding.CachedObject {
			// The versions differ in their names only.
			v2beta1 := &apidiscoveryv2beta1.APIGroupDiscoveryList{}
			_ = json.Unmarshal(document, v2beta1)
			v2beta1.APIVersion = apidiscoveryv2beta1.SchemeGroupVersion.String()
			return encoding.NewCachedObject(v2beta1)
		}),
	}
}

// version returns the document in a requested version.
func (d *aggregatedDiscovery) version(gv schema.GroupVersion) *encoding.CachedObject {
	if gv == apidiscoveryv2beta1.SchemeGroupVersion {
		return d.v2beta1()
	}
	return d.v2
}

// ETag returns the value of the header ETag for a content, with its quotes.
func ETag(content []byte) string {
	return strconv.Quote(fmt.Sprintf("%X", sha512.Sum512(content)))
}

// aggregatedOrPlain is the restriction of endpoints that serve an aggregated document too.
func aggregatedOrPlain(_ *encoding.MediaType, as schema.GroupVersionKind) bool {
	if as.Empty() {
		return true
	}
	if as.Kind != aggregatedKind {
		return false
	}
	return as.GroupVersion() == apidiscoveryv2.SchemeGroupVersion || as.GroupVersion() == apidiscoveryv2beta1.SchemeGroupVersion
}
