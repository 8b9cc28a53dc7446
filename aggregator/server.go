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
	// checkInterval is the interval of availability checks.
	checkInterval = 30 * time.Second
	// firstRetry is the pause after the first failed check. It doubles with each further one.
	firstRetry = 20 * time.Millisecond
)

// server is the API server behind an APIService, for one spec of it. It is the handler of requests
// to its group version.
type server struct {
	*Aggregator
	service      *apiregistrationv1.APIService // of the first event
	transport    *http.Transport               // nil if transportErr is not
	transportErr error
	timeout      time.Duration // of discovery requests
	available    atomic.Bool
	stop         context.CancelFunc

	mu sync.Mutex // guards the fields below
	// condition is the result of the last check.
	condition *apiregistrationv1.APIServiceCondition
	// described is the last discovery; stale is set if a check has failed since.
	described description
	stale     bool
}

func newServer(a *Aggregator, service *apiregistrationv1.APIService) *server {
	s := &server{Aggregator: a, service: service, timeout: discoveryTimeout, stale: true}
	s.transport, s.transportErr = newTransport(service, a.config)
	s.available.Store(helper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available))
	return s
}

// isOf reports whether it is the server of an APIService.
func (s *server) isOf(service *apiregistrationv1.APIService) bool {
	return s.service.UID == service.UID && equality.Semantic.DeepEqual(s.service.Spec, service.Spec)
}

// observeStatus adopts the condition Available in the status, which another aggregator may have
// written. If it is missing, it is written again.
func (s *server) observeStatus(ctx context.Context, service *apiregistrationv1.APIService) {
	if helper.GetAPIServiceConditionByType(service, apiregistrationv1.Available) != nil {
		s.available.Store(helper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available))
		return
	}
	s.mu.Lock()
	condition := s.condition
	s.mu.Unlock()
	if condition != nil {
		s.writeCondition(ctx, service, *condition)
	}
}

// describe returns the group version for the catalog.
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
	}
}

func (s *server) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: s.service.Spec.Group, Version: s.service.Spec.Version}
}

// start checks the availability of the server until it is stopped. A Service that cannot be
// resolved is reported before start returns.
func (s *server) start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	if _, problem := s.resolve(ctx); problem != nil {
		s.setCondition(ctx, *problem)
	}
	s.running.Go(func() { s.run(ctx) })
}

// run checks the server at intervals and after each change of its Service.
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
		wait := checkInterval
		if s.check(ctx) {
			retry = firstRetry
		} else {
			wait, retry = retry, min(2*retry, checkInterval)
		}
		select {
		case <-ctx.Done():
		case <-changed:
			retry = firstRetry
		case <-time.After(wait):
		}
	}
}

// watchService sends to changed when the address of the Service may have changed.
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

// check reports whether the server is available, and updates the catalog and the status.
func (s *server) check(ctx context.Context) bool {
	address, problem := s.resolve(ctx)
	if problem != nil {
		s.setDescription(nil)
		s.setCondition(ctx, *problem)
		return false
	}
	found, err := s.discover(ctx, address)
	s.setDescription(found)
	if err != nil {
		s.setCondition(ctx, *unavailable("FailedDiscoveryCheck", "%v", err))
		return false
	}
	s.setCondition(ctx, apiregistrationv1.APIServiceCondition{
		Status: apiregistrationv1.ConditionTrue, Reason: "Passed", Message: "all checks passed",
	})
	return true
}

// setDescription updates the catalog with the discovery of the server, nil for a failed one.
func (s *server) setDescription(found *description) {
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

// setCondition writes the result of a check to the status. The default of its Status is False.
func (s *server) setCondition(ctx context.Context, condition apiregistrationv1.APIServiceCondition) {
	if ctx.Err() != nil {
		return // the check was cancelled
	}
	condition.Type = apiregistrationv1.Available
	condition.LastTransitionTime = metav1.NewTime(s.config.Catalog.Now())
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
