package aggregator

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestDiscoveryDocumentsAreLimited(t *testing.T) {
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		padding, _ := strconv.Atoi(r.URL.Query().Get("padding"))
		_, _ = io.WriteString(w, strings.Repeat(" ", padding)+"{}") // fails beyond the limit
	}))
	defer remote.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for padding, want := range map[int]error{0: nil, maxAnswerBytes - 2: nil, maxAnswerBytes: errNotJSON} {
		at, err := url.Parse(remote.URL + "?padding=" + strconv.Itoa(padding))
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]any
		if err := (&server{transport: transport}).getJSON(t.Context(), at, &document); !errors.Is(err, want) {
			t.Errorf("%d spaces: got error %v, want %v", padding, err, want)
		}
	}
}
