package filters

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/registry"
)

// blockingHandler sends to entered and then waits for release.
type blockingHandler struct{ entered, release chan struct{} }

func (h blockingHandler) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h.entered <- struct{}{}
	<-h.release
	w.WriteHeader(http.StatusOK)
}

func TestMaxInFlightLimit(t *testing.T) {
	const list, create, watch = "GET /api/v1/pods", "POST /api/v1/namespaces/default/pods", "GET /api/v1/pods?watch=1"
	tests := []struct {
		name, held, next string
		user             *authenticationv1.UserInfo
		tls              bool
		rejected         bool
	}{
		{"a second read", list, list, nil, false, true},
		{"a second write", create, create, nil, false, true},
		{"a read during a write", create, list, nil, false, false},
		{"a watch during a read", list, watch, nil, false, false},
		{"a read during a watch", watch, list, nil, false, false},
		{"an authenticated member of system:masters", list, list, &authenticationv1.UserInfo{Groups: []string{"system:masters"}}, true, false},
		{"a member of system:masters without TLS", list, list, &authenticationv1.UserInfo{Groups: []string{"system:masters"}}, false, true},
		{"another user", list, list, &authenticationv1.UserInfo{Groups: []string{"devs"}}, true, true},
		{"the log of a pod", list, "GET /api/v1/namespaces/default/pods/p/log", nil, false, false},
		{"a write to a path that is no resource", "POST /healthz", create, nil, false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inside := blockingHandler{make(chan struct{}), make(chan struct{})}
			var terminated int
			terminate := func(_ *http.Request, code int) { terminated = code }
			limited := WithFlowControl(nil, MaxInFlight{ReadOnly: 1, Mutating: 1}, lifecycle.NewTracker(), terminate)(inside)
			first := begin(t, limited, newRequest(t, test.held), nil)
			<-inside.entered
			next := newRequest(t, test.next)
			if test.tls {
				next.TLS = &tls.ConnectionState{}
			}
			second := begin(t, limited, next, test.user)
			if !test.rejected {
				<-inside.entered
			} else if got := <-second; got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "1" ||
				got.Body.String() != "Too many requests, please try again later.\n" {
				t.Errorf("got %v", got)
			} else if terminated != http.StatusTooManyRequests {
				t.Errorf("the request is counted with code %d", terminated)
			}
			close(inside.release)
			if got := <-first; got.Code != http.StatusOK {
				t.Errorf("the first request: %v", got)
			}
			if !test.rejected {
				if got := <-second; got.Code != http.StatusOK {
					t.Errorf("the second request: %v", got)
				}
			}
			third := begin(t, limited, newRequest(t, test.held), nil)
			<-inside.entered
			if got := <-third; got.Code != http.StatusOK {
				t.Errorf("the third request: %v", got)
			}
		})
	}
}

// begin sends a request as a user and returns the channel of its response.
func begin(t *testing.T, handler http.Handler, r *http.Request, user *authenticationv1.UserInfo) <-chan *httptest.ResponseRecorder {
	t.Helper()
	r = r.WithContext(registry.WithUser(r.Context(), user))
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() { answered <- serve(handler, r) }() // ends with the request
	return answered
}
