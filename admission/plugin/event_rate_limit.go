package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"

	"github.com/miniapi/miniapi/registry"
)

// The types of an EventLimit.
const (
	serverEvents    = "Server"
	namespaceEvents = "Namespace"
	userEvents      = "User"
	objectEvents    = "SourceAndObject"
)

// EventLimit limits the rate of writes of Events. It is a Limit of
// eventratelimit.admission.k8s.io/v1alpha1.
type EventLimit struct {
	// Type is Server, Namespace, User or SourceAndObject: the writes that share a limit.
	Type string `json:"type"`
	// QPS is the number of writes per second, Burst the number at once.
	QPS   int32 `json:"qps"`
	Burst int32 `json:"burst"`
	// CacheSize is the number of namespaces, users or objects that have a counter. The least
	// recently used counter is evicted. Default: 4096. A limit of the type Server ignores it.
	CacheSize int32 `json:"cacheSize,omitempty"`
}

// EventRateLimit limits the rates of creations and updates of Events in the core group. Dry runs
// are not counted. A write counts for all limits, also if one of them rejects it. The rates are per
// second of the time of the API.
func EventRateLimit(limits []EventLimit) registry.AdmissionStep {
	enforcers := make([]*eventEnforcer, len(limits))
	for i, limit := range limits {
		enforcers[i] = newEventEnforcer(limit)
	}
	return registry.AdmissionStep{Name: "EventRateLimit", Validate: func(ctx context.Context, a *registry.Attributes) error {
		if _, ok := written[*corev1.Event](a); !ok || a.Resource.Group != corev1.GroupName || a.Options.DryRun {
			return nil
		}
		var errs []error
		for _, e := range enforcers {
			if err := e.accept(ctx, a); err != nil {
				errs = append(errs, err)
			}
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return apierrors.NewTooManyRequestsError(err.Error())
		}
		return nil
	}}
}

// eventLimits is the Configuration of eventratelimit.admission.k8s.io/v1alpha1.
type eventLimits struct {
	Limits []EventLimit `json:"limits"`
}

func parseEventLimits(data []byte) ([]EventLimit, error) {
	var config eventLimits
	if data != nil {
		var err error
		if config, err = decode[eventLimits](data, "eventratelimit.admission.k8s.io/v1alpha1"); err != nil {
			return nil, err
		}
	}
	var errs field.ErrorList
	at := field.NewPath("limits")
	if len(config.Limits) == 0 {
		errs = append(errs, field.Invalid(at, config.Limits, "must not be empty"))
	}
	for i, limit := range config.Limits {
		errs = append(errs, limit.validate(at.Index(i))...)
	}
	return config.Limits, errs.ToAggregate()
}

func (l EventLimit) validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if types := []string{serverEvents, namespaceEvents, userEvents, objectEvents}; !slices.Contains(types, l.Type) {
		errs = append(errs, field.NotSupported(at.Child("type"), l.Type, types))
	}
	if l.Burst <= 0 {
		errs = append(errs, field.Invalid(at.Child("burst"), l.Burst, "must be positive"))
	}
	if l.QPS <= 0 {
		errs = append(errs, field.Invalid(at.Child("qps"), l.QPS, "must be positive"))
	}
	if l.Type != serverEvents && l.CacheSize < 0 {
		errs = append(errs, field.Invalid(at.Child("cacheSize"), l.CacheSize, "must not be negative"))
	}
	return errs
}

// key returns the key of the writes that share the limit with a write of an Event.
func (l EventLimit) key(ctx context.Context, a *registry.Attributes) string {
	switch l.Type {
	case namespaceEvents:
		return a.Namespace
	case userEvents:
		if user := registry.UserFrom(ctx); user != nil {
			return user.Username
		}
	case objectEvents:
		event := a.Object.(*corev1.Event)
		object := event.InvolvedObject
		return event.Source.Component + event.Source.Host +
			object.Kind + object.Namespace + object.Name + string(object.UID) + object.APIVersion
	}
	return ""
}

// eventEnforcer enforces one limit. Safe for concurrent use.
type eventEnforcer struct {
	limit    EventLimit
	mu       sync.Mutex // guards limiters
	limiters *lru.Cache // *rate.Limiter by key
}

func newEventEnforcer(limit EventLimit) *eventEnforcer {
	size := cmp.Or(limit.CacheSize, 4096)
	if limit.Type == serverEvents {
		size = 1
	}
	return &eventEnforcer{limit: limit, limiters: lru.New(int(size))}
}

func (e *eventEnforcer) accept(ctx context.Context, a *registry.Attributes) error {
	key := e.limit.key(ctx, a)
	if !e.limiter(key).AllowN(a.Catalog.Now(), 1) {
		return fmt.Errorf("limit reached on type %v for key %v", e.limit.Type, key)
	}
	return nil
}

func (e *eventEnforcer) limiter(key string) *rate.Limiter {
	e.mu.Lock()
	defer e.mu.Unlock()
	if found, ok := e.limiters.Get(key); ok {
		return found.(*rate.Limiter)
	}
	limiter := rate.NewLimiter(rate.Limit(e.limit.QPS), int(e.limit.Burst))
	e.limiters.Add(key, limiter)
	return limiter
}
