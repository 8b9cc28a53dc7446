package aggregator

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func TestDiscoveryDocumentsAreLimited(t *testing.T) {
	for padding, want := range map[int]error{0: nil, maxAnswerBytes - 2: nil, maxAnswerBytes: errNotJSON} {
		body := strings.NewReader(strings.Repeat(" ", padding) + "{}")
		var document map[string]any
		if err := decodeAnswer(body, &document); !errors.Is(err, want) {
			t.Errorf("%d spaces: got error %v, want %v", padding, err, want)
		}
	}
}

// A server that does not answer within the timeout is not available.
func TestDiscoveryHasATimeout(t *testing.T) {
	silent := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	s := newServer(New(Config{}), &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{
		Group: "example.com", Version: "v1", InsecureSkipTLSVerify: true,
		Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "silent"},
	}})
	if s.timeout != 5*time.Second {
		t.Errorf("the timeout is %v", s.timeout)
	}
	s.timeout = 50 * time.Millisecond
	if _, err := s.discover(t.Context(), silent.Listener.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
}

// A server whose answer ends too early, for example at the timeout of the request, is not
// available. An answer that is no JSON is accepted.
func TestIncompleteDiscoveryIsAnError(t *testing.T) {
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "{")
	}))
	defer remote.Close()
	at, err := url.Parse(remote.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var document map[string]any
	if err := (&server{transport: transport, timeout: discoveryTimeout}).getJSON(t.Context(), at, &document); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got error %v", err)
	}
}
