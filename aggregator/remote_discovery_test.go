package aggregator

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
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
	if err := (&server{transport: transport}).getJSON(t.Context(), at, &document); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got error %v", err)
	}
}
