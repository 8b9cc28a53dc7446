package aggregator

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/miniapi/miniapi/registry"
)

const (
	// recheckAfter is how long an answer of another server is taken for the truth.
	recheckAfter = 30 * time.Second
	// firstRetry is how long to wait after the first failure; it doubles with each.
	firstRetry = 20 * time.Millisecond
)

// server is the one that an APIService names, as long as that stays the same. It
// passes requests on.
type server struct {
	*Aggregator
	service   *apiregistrationv1.APIService // as it was first seen
	transport *http.Transport
	unusable  error // why there is no transport
	available atomic.Bool
	stop      context.CancelFunc

	mu sync.Mutex // guards what follows
	// condition is what was found out last.
	condition *apiregistrationv1.APIServiceCondition
	// described is what it said last; stale if it does not answer any more.
	described description
	stale     bool
}

func newServer(a *Aggregator, service *apiregistrationv1.APIService) *server {
	s := &server{Aggregator: a, service: service, stale: true}
	s.transport, s.unusable = newTransport(service, a.config.Certificate)
	s.available.Store(helper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available))
	return s
}

// isOf tells whether it is the server of an APIService.
func (s *server) isOf(service *apiregistrationv1.APIService) bool {
	return s.service.UID == service.UID && equality.Semantic.DeepEqual(s.service.Spec, service.Spec)
}

// see takes over what the status says of it.
func (s *server) see(ctx context.Context, service *apiregistrationv1.APIService) {
	if helper.GetAPIServiceConditionByType(service, apiregistrationv1.Available) != nil {
		s.available.Store(helper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available))
		return
	}
	s.mu.Lock()
	condition := s.condition
	s.mu.Unlock()
	if condition != nil { // somebody took it away
		s.writeCondition(ctx, service, *condition)
	}
}

// describe says what the catalog should know.
func (s *server) describe() *registry.Remote {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &registry.Remote{
		GroupVersion:    s.groupVersion(),
		GroupPriority:   s.service.Spec.GroupPriorityMinimum,
		VersionPriority: s.service.Spec.VersionPriority,
		Resources:       s.described.resources,
		Stale:           s.stale,
		OpenAPI:         s.described.openAPI,
		Handler:         s,
	}
}

func (s *server) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: s.service.Spec.Group, Version: s.service.Spec.Version}
}

// begin finds out at once what needs no network, and goes on until it is stopped.
func (s *server) begin(ctx context.Context, servers *sync.WaitGroup) {
	ctx, s.stop = context.WithCancel(ctx)
	if _, fault := s.resolve(ctx); fault != nil {
		s.conclude(ctx, *fault)
	}
	servers.Go(func() { s.run(ctx) })
}

// run checks the server from time to time, and whenever its Service changes.
func (s *server) run(ctx context.Context) {
	changed := make(chan struct{}, 1)
	var watches sync.WaitGroup
	defer watches.Wait()
	s.watchService(ctx, &watches, changed)
	if s.transport != nil {
		defer s.transport.CloseIdleConnections()
	}
	retry := firstRetry
	for ctx.Err() == nil {
		wait := recheckAfter
		if s.check(ctx) {
			retry = firstRetry
		} else {
			wait, retry = retry, min(2*retry, recheckAfter)
		}
		select {
		case <-ctx.Done():
		case <-changed:
			retry = firstRetry
		case <-time.After(wait):
		}
	}
}

// watchService says when the Service may lead somewhere else.
func (s *server) watchService(ctx context.Context, watches *sync.WaitGroup, changed chan<- struct{}) {
	namespace, name := s.service.Spec.Service.Namespace, s.service.Spec.Service.Name
	watches.Go(func() {
		byName := fields.OneTermEqualSelector(metav1.ObjectNameField, name)
		s.notify(ctx, corev1.Resource("services"), registry.ListRequest{Namespace: namespace, Field: byName}, changed)
	})
	watches.Go(func() {
		ofService := labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: name})
		s.notify(ctx, endpointSlices, registry.ListRequest{Namespace: namespace, Label: ofService}, changed)
	})
}

var endpointSlices = schema.GroupResource{Group: discoveryv1.GroupName, Resource: "endpointslices"}

// check finds out whether the server answers, and notes what it says.
func (s *server) check(ctx context.Context) bool {
	address, fault := s.resolve(ctx)
	if fault != nil {
		s.note(nil)
		s.conclude(ctx, *fault)
		return false
	}
	found, err := s.discover(ctx, address)
	s.note(found)
	if err != nil {
		s.conclude(ctx, *unavailable("FailedDiscoveryCheck", "%v", err))
		return false
	}
	s.conclude(ctx, apiregistrationv1.APIServiceCondition{
		Status: apiregistrationv1.ConditionTrue, Reason: "Passed", Message: "all checks passed",
	})
	return true
}

// note takes what the server said, nil if it did not answer, into the catalog.
func (s *server) note(found *description) {
	s.mu.Lock()
	same := s.stale == (found == nil) && (found == nil || s.described.equal(found))
	s.stale = found == nil
	if found != nil {
		s.described = *found
	}
	s.mu.Unlock()
	if same {
		return
	}
	s.Aggregator.mu.Lock()
	defer s.Aggregator.mu.Unlock()
	s.publish()
}

// conclude says in the status what was found out. Without a Status the condition
// is false.
func (s *server) conclude(ctx context.Context, condition apiregistrationv1.APIServiceCondition) {
	if ctx.Err() != nil {
		return // which says nothing of the server
	}
	condition.Type, condition.LastTransitionTime = apiregistrationv1.Available, metav1.Now()
	if condition.Status == "" {
		condition.Status = apiregistrationv1.ConditionFalse
	}
	s.mu.Lock()
	s.condition = &condition
	s.mu.Unlock()
	s.available.Store(condition.Status == apiregistrationv1.ConditionTrue)
	s.writeCondition(ctx, s.service, condition)
}

func unavailable(reason, format string, args ...any) *apiregistrationv1.APIServiceCondition {
	return &apiregistrationv1.APIServiceCondition{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
