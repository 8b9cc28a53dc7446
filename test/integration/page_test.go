package integration_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// The files of the page are public, but not for other sites in the browser, and the API behind the
// page is not.
func TestPageIsGuarded(t *testing.T) {
	for name, test := range map[string]struct {
		config       miniapi.Config
		method, path string
		host, origin string
		code         int
	}{
		"on":                        {config: miniapi.Config{UI: true}, path: "/ui/", code: http.StatusOK},
		"off":                       {path: "/ui/", code: http.StatusNotFound},
		"rebound host":              {config: miniapi.Config{UI: true}, path: "/ui/", host: "evil.example", code: http.StatusForbidden},
		"other origin":              {config: miniapi.Config{UI: true}, path: "/ui/app.js", origin: "http://evil.example", code: http.StatusForbidden},
		"other path":                {config: miniapi.Config{UI: true}, path: "/uid", code: http.StatusNotFound},
		"write":                     {config: miniapi.Config{UI: true}, method: http.MethodPost, path: "/ui/", code: http.StatusMethodNotAllowed},
		"anonymous over TLS":        {config: miniapi.Config{UI: true, Secure: &miniapi.Secure{}}, path: "/ui/", code: http.StatusOK},
		"anonymous over TLS, RBAC":  {config: miniapi.Config{UI: true, Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC}, path: "/ui/style.css", code: http.StatusOK},
		"the API over TLS":          {config: miniapi.Config{UI: true, Secure: &miniapi.Secure{}}, path: "/api/v1/pods", code: http.StatusUnauthorized},
		"page off, over TLS":        {config: miniapi.Config{Secure: &miniapi.Secure{}}, path: "/ui/", code: http.StatusUnauthorized},
		"the index lists the page":  {config: miniapi.Config{UI: true}, path: "/", code: http.StatusOK},
		"a path above the page":     {config: miniapi.Config{UI: true, Secure: &miniapi.Secure{}}, path: "/ui/../api", code: http.StatusNotFound},
		"an encoded path above it":  {config: miniapi.Config{UI: true, Secure: &miniapi.Secure{}}, path: "/ui/%2e%2e/api", code: http.StatusNotFound},
		"a double slash before it":  {config: miniapi.Config{UI: true, Secure: &miniapi.Secure{}}, path: "//ui/", code: http.StatusUnauthorized},
		"an unknown file over TLS":  {config: miniapi.Config{UI: true, Secure: &miniapi.Secure{}}, path: "/ui/none", code: http.StatusNotFound},
		"the page without a slash":  {config: miniapi.Config{UI: true}, path: "/ui", code: http.StatusMovedPermanently},
		"the page with HEAD":        {config: miniapi.Config{UI: true}, method: http.MethodHead, path: "/ui/", code: http.StatusOK},
		"own origin, on loopback":   {config: miniapi.Config{UI: true}, path: "/ui/", origin: "http://localhost:1", code: http.StatusOK},
		"a query is no part of it":  {config: miniapi.Config{UI: true}, path: "/ui/app.js?x=/../..", code: http.StatusOK},
		"a watch of a file is none": {config: miniapi.Config{UI: true}, path: "/ui/app.js?watch=1", code: http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := miniapi.Start(t.Context(), test.config)
			if err != nil {
				t.Fatal(err)
			}
			defer servertest.Stop(server)
			request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL()+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = test.host
			if test.origin != "" {
				request.Header.Set("Origin", test.origin)
			}
			response, err := anonymousClient(t, server).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != test.code {
				t.Errorf("code %d, want %d", response.StatusCode, test.code)
			}
		})
	}
}

// anonymousClient returns a client without credentials that does not follow redirects.
func anonymousClient(t *testing.T, server *miniapi.Server) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(server.RESTConfig().CAData)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
