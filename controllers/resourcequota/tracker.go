package resourcequota

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/quota"
)

// tracker holds the limits of all quotas. reset must be called first.
type tracker struct {
	mu sync.Mutex // guards the field below
	// limits holds spec.hard by namespace and name. It is nil for a quota before its first
	// recalculation.
	limits map[string]map[string]corev1.ResourceList
}

func (t *tracker) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limits = map[string]map[string]corev1.ResourceList{}
}

// set adds a quota or removes it.
func (t *tracker) set(namespace, name string, exists bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	quotas := t.limits[namespace]
	switch _, known := quotas[name]; {
	case exists && known:
	case exists && quotas == nil:
		t.limits[namespace] = map[string]corev1.ResourceList{name: nil}
	case exists:
		quotas[name] = nil
	default:
		delete(quotas, name)
		if len(quotas) == 0 {
			delete(t.limits, namespace)
		}
	}
}

// limit sets the limits of a quota, unless the quota has been removed.
func (t *tracker) limit(namespace, name string, hard corev1.ResourceList) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.limits[namespace][name]; ok {
		t.limits[namespace][name] = hard
	}
}

// each calls visit with the keys of all quotas.
func (t *tracker) each(visit func(key string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for namespace, quotas := range t.limits {
		for name := range quotas {
			visit(namespace + "/" + name)
		}
	}
}

// eachCounting calls visit with the keys of the quotas of a namespace that limit a resource.
func (t *tracker) eachCounting(namespace string, resource schema.GroupResource, visit func(key string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	quotas := t.limits[namespace]
	if len(quotas) == 0 {
		return
	}
	evaluator := quota.EvaluatorOf(resource)
	for name, hard := range quotas {
		if evaluator.CountsAny(hard) {
			visit(namespace + "/" + name)
		}
	}
}
