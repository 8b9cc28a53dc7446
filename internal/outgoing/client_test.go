package outgoing

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestAnswersAreLimited(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch size, _ := strconv.Atoi(r.URL.Query().Get("size")); r.URL.Path {
		case "/header":
			w.Header().Set("X-Large", strings.Repeat("x", size))
		case "/body":
			_, _ = io.WriteString(w, strings.Repeat("x", size)) // fails if the client has enough
		case "/redirect":
			http.Redirect(w, r, "/body", http.StatusFound)
		}
	}))
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := NewClient(transport)
	for rule, c := range map[string]struct{ path, err string }{
		"a body of 8 MiB":     {"/body?size=8388608", ""},
		"one byte more":       {"/body?size=8388609", "the answer is longer than 8388608 bytes"},
		"a header of 512 KiB": {"/header?size=524288", ""},
		"a header of 1 MiB":   {"/header?size=1048576", "headers exceeded 1048576 bytes"},
		"a redirect":          {"/redirect", "attempted to redirect this request"},
	} {
		t.Run(rule, func(t *testing.T) {
			response, err := client.Get(server.URL + c.path)
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got error %v, want %q", err, c.err)
			}
		})
	}
}
