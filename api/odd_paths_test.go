package api

import (
	"strings"
	"testing"
)

// A path with an encoded slash or an empty segment reaches the object that it is authorized for.
func TestOddPaths(t *testing.T) {
	s := newTestServer(t, nil)
	s.must(201, s.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`))
	const plain = "404 page not found\n"
	for path, want := range map[string]reply{
		"/api/v1/configmaps/":                                {status: 200, body: `"kind":"ConfigMapList"`},
		"/api/v1/configmaps//":                               {status: 200, body: `"kind":"ConfigMapList"`},
		"/api/v1%2Fconfigmaps":                               {status: 200, body: `"kind":"ConfigMapList"`},
		"/api/v1/namespaces//configmaps":                     {status: 200, body: `"kind":"ConfigMapList"`},
		"/api/v1/namespaces/default%2Fconfigmaps/a":          {status: 200, body: `"kind":"ConfigMap"`},
		"/apis/apps%2Fv1/deployments":                        {status: 200, body: `"kind":"DeploymentList"`},
		"/api/v1//":                                          {status: 200, body: `"groupVersion":"v1"`},
		"/api/v1/%2F":                                        {status: 200, body: `"groupVersion":"v1"`},
		"/apis/apps/v1///":                                   {status: 200, body: `"groupVersion":"apps/v1"`},
		"/apis/apps%2F%2F":                                   {status: 200, body: `"name":"apps"`},
		"/api//":                                             {status: 200, body: `"kind":"APIVersions"`},
		"/apis//":                                            {status: 404, body: plain},
		"/api/v1//configmaps":                                {status: 404, body: `"reason":"NotFound"`},
		"/api//v1/configmaps":                                {status: 404, body: `"reason":"NotFound"`},
		"/apis/apps/v1//deployments":                         {status: 404, body: `"reason":"NotFound"`},
		"/api/v1/namespaces/default//configmaps":             {status: 404, body: `"reason":"NotFound"`},
		"/api/v1/namespaces/default/configmaps/a%2Fb":        {status: 404, body: `"reason":"NotFound"`},
		"/api/v1/proxy/namespaces/default/configmaps/a":      {status: 404, body: `"reason":"NotFound"`},
		"/api/v1/../v1/configmaps":                           {status: 404, body: `"reason":"NotFound"`},
		"/api/v1/namespaces/default/configmaps/..":           {status: 400, body: `may not be '..'`},
		"/apis/none.io/v1//foos":                             {status: 404, body: plain},
		"/apis//v1/configmaps":                               {status: 404, body: plain},
		"//api/v1/configmaps":                                {status: 404, body: plain},
		"/API/v1/configmaps":                                 {status: 404, body: plain},
		"/api/v1/watch?a=<b>":                                {status: 500, body: "failed to create RequestInfo: unable to determine kind and namespace from url, /api/v1/watch?a=&lt;b&gt;\n"},
		"/api/v1/watch/namespaces/default/configmaps/a/data": {status: 404, body: `"reason":"NotFound"`},
	} {
		got := s.do("GET", path, "")
		if got.status != want.status || !strings.Contains(got.body, want.body) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// Methods of versions that do not exist are not found, rather than not allowed.
func TestMethodsOfVersions(t *testing.T) {
	s := newTestServer(t, nil)
	for path, want := range map[string]int{"/api/v1": 405, "/api/v2": 404, "/apis/apps/v1": 405, "/apis/apps/v9": 404, "/apis/none.io/v1": 404} {
		for _, method := range []string{"POST", "DELETE"} {
			if got := s.do(method, path, `{}`); got.status != want {
				t.Errorf("%s %s: %d %s, want %d", method, path, got.status, got.body, want)
			}
		}
	}
}
