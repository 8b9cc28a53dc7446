package api

import (
	"crypto/tls"
	"net/http"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// holding is a handler that says when it is at work and stays until released.
type holding struct{ entered, release chan struct{} }

func (h holding) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h.entered <- struct{}{}
	<-h.release
	w.WriteHeader(http.StatusOK)
}

func TestRequestsInFlightAreLimited(t *testing.T) {
	const list, create, watch = "GET /api/v1/pods", "POST /api/v1/namespaces/default/pods", "GET /api/v1/pods?watch=1"
	tests := []struct {
		name, held, next string
		user             *authenticationv1.UserInfo
		tls              bool
		refused          bool
	}{
		{"one that reads beside one", list, list, nil, false, true},
		{"one that changes beside one", create, create, nil, false, true},
		{"each kind by itself", create, list, nil, false, false},
		{"a watch is not counted", list, watch, nil, false, false},
		{"nor does it count", watch, list, nil, false, false},
		{"authenticated masters get through", list, list, &authenticationv1.UserInfo{Groups: []string{"system:masters"}}, true, false},
		{"masters over plain HTTP, as everybody is, do not", list, list, &authenticationv1.UserInfo{Groups: []string{"system:masters"}}, false, true},
		{"users do not", list, list, &authenticationv1.UserInfo{Groups: []string{"devs"}}, true, true},
		{"a log runs long", list, "GET /api/v1/namespaces/default/pods/p/log", nil, false, false},
		{"paths count too", "POST /healthz", create, nil, false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inside := holding{make(chan struct{}), make(chan struct{})}
			s := &Server{config: Config{MaxInFlight: 1, MaxMutatingInFlight: 1}, life: newLifecycle()}
			limited := s.limitInFlight(inside)
			first := begin(t, limited, newRequest(t, test.held), nil)
			<-inside.entered
			next := newRequest(t, test.next)
			if test.tls {
				next.TLS = &tls.ConnectionState{}
			}
			second := begin(t, limited, next, test.user)
			if !test.refused {
				<-inside.entered
			} else if got := <-second; got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" ||
				got.body != "Too many requests, please try again later.\n" {
				t.Errorf("got %v", got)
			}
			close(inside.release)
			if got := <-first; got.status != http.StatusOK {
				t.Errorf("the first one: %v", got)
			}
			if !test.refused {
				if got := <-second; got.status != http.StatusOK {
					t.Errorf("the second one: %v", got)
				}
			}
			third := begin(t, limited, newRequest(t, test.held), nil)
			<-inside.entered
			if got := <-third; got.status != http.StatusOK {
				t.Errorf("after both: %v", got)
			}
		})
	}
}

// begin sends a request as a user and returns where the answer will be.
func begin(t *testing.T, handler http.Handler, r *http.Request, user *authenticationv1.UserInfo) <-chan reply {
	t.Helper()
	r = r.WithContext(registry.WithUser(r.Context(), user))
	answered := make(chan reply, 1)
	go func() { answered <- record(handler, r) }() // ends with the request
	return answered
}
