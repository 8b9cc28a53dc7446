package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const unsafeOption = `"ignoreStoreReadErrorWithClusterBreakingPotential":true`

// corrupt stores bytes that cannot be decoded.
func (s *testServer) corrupt(name string) {
	s.t.Helper()
	if _, err := s.etcd.Put(s.t.Context(), "/registry/configmaps/default/"+name, "not an object"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testServer) configMapURL(name string) string {
	return "/api/v1/namespaces/default/configmaps/" + name
}

// status returns the Status of a response.
func (s *testServer) status(r reply) metav1.Status {
	s.t.Helper()
	var status metav1.Status
	if err := json.Unmarshal([]byte(r.body), &status); err != nil {
		s.t.Fatalf("%v: %s", err, r.body)
	}
	return status
}

// TestCorruptObject expects the error texts of kube-apiserver v1.36.3 with the feature gate
// AllowUnsafeMalformedObjectDeletion, except for the cause at their end.
func TestCorruptObject(t *testing.T) {
	s := newTestServer(t, nil)
	s.corrupt("bad")
	const wrapped = "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /configmaps/default/bad, " +
		"ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="
	for _, test := range []struct{ method, body, want string }{
		{"GET", "", wrapped},
		{"DELETE", "", wrapped},
		{"DELETE", `{"kind":"DeleteOptions","apiVersion":"v1","ignoreStoreReadErrorWithClusterBreakingPotential":false}`, wrapped},
		{"PUT", `{"metadata":{"name":"bad"}}`, "object not decodable revision="},
	} {
		got := s.status(s.must(http.StatusInternalServerError, s.do(test.method, s.configMapURL("bad"), test.body)))
		if !strings.HasPrefix(got.Message, test.want) {
			t.Errorf("%s: %s", test.method, got.Message)
		}
	}
}

func TestListOverCorruptObjects(t *testing.T) {
	for _, query := range []string{"", "?limit=500", "?labelSelector=a!=b", "?fieldSelector=metadata.name!=x"} {
		s := newTestServer(t, nil)
		s.configMap("good", "1")
		s.corrupt("bad1")
		s.corrupt("bad2")
		got := s.status(s.must(http.StatusInternalServerError, s.do("GET", "/api/v1/namespaces/default/configmaps"+query, "")))
		if got.Message != "failed to read one or more configmaps from the storage" || got.Reason != "StorageReadError" {
			t.Errorf("%s: %s: %s", query, got.Reason, got.Message)
		}
		if got.Details == nil || got.Details.Name != "list" || got.Details.Kind != "configmaps" || len(got.Details.Causes) != 2 {
			t.Fatalf("%s: details are %+v", query, got.Details)
		}
		for i, cause := range got.Details.Causes {
			key := fmt.Sprintf("/registry/configmaps/default/bad%d", i+1)
			text := "StorageError: corrupt object, Code: 7, Key: " + key + ", ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="
			if cause.Type != metav1.CauseTypeUnexpectedServerResponse || cause.Field != key || !strings.HasPrefix(cause.Message, text) {
				t.Errorf("%s: cause %d is %+v", query, i, cause)
			}
		}
	}
}

// TestLongListOverCorruptObjects has a corrupt object after the start of the response: the first
// list is aborted, the second one returns the error.
func TestLongListOverCorruptObjects(t *testing.T) {
	s := newTestServer(t, nil)
	large := strings.Repeat("x", 128<<10) // more than the write buffer of a list
	s.configMap("a", large)
	s.configMap("b", large)
	s.corrupt("z")
	const url = "/api/v1/namespaces/default/configmaps"
	if got, err := s.try("GET", url, ""); err == nil {
		t.Errorf("the list is complete: %d bytes", len(got.body))
	}
	got := s.status(s.must(http.StatusInternalServerError, s.do("GET", url, "")))
	if got.Reason != metav1.StatusReasonStoreReadError || len(got.Details.Causes) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestUnsafeDelete(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("good", "1")
	s.corrupt("bad1")
	s.corrupt("bad2")
	options := func(more string) string {
		return `{"kind":"DeleteOptions","apiVersion":"v1",` + unsafeOption + more + `}`
	}
	const invalid = `DeleteOptions.meta.k8s.io "" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: `
	const readable = ` is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: ` +
		`is exclusively used to delete corrupt object(s), try again by removing this option`
	for _, test := range []struct{ name, options, want string }{
		{"bad1", options(`,"gracePeriodSeconds":0`), invalid + "cannot be set together with .gracePeriodSeconds"},
		{"bad1", options(`,"propagationPolicy":"Orphan"`), invalid + "cannot be set together with .propagationPolicy"},
		{"bad1", options(`,"preconditions":{"uid":"x"}`), invalid + "cannot be set together with .preconditions"},
		{"bad1", options(`,"dryRun":["All"]`), invalid + "cannot be set together with .dryRun"},
		{"bad1", options(`,"dryRun":["All"],"gracePeriodSeconds":0`), invalid + "cannot be set together with .gracePeriodSeconds"},
		{"", options(""), invalid + "is not allowed with DELETECOLLECTION, try again after removing the option"},
		{"good", options(""), `configmaps "good"` + readable},
		{"none", options(""), `configmaps "none"` + readable},
	} {
		got := s.status(s.must(http.StatusUnprocessableEntity,
			s.do("DELETE", strings.TrimSuffix(s.configMapURL(test.name), "/"), test.options)))
		if got.Message != test.want {
			t.Errorf("%s: %s", test.options, got.Message)
		}
	}
	s.must(http.StatusOK, s.do("GET", s.configMapURL("good"), ""))

	want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"bad1","kind":"ConfigMap"},"code":200}` + "\n"
	if got := s.must(http.StatusOK, s.do("DELETE", s.configMapURL("bad1"), options(""))); got.body != want {
		t.Errorf("got %s", got.body)
	}
	s.must(http.StatusOK, s.do("DELETE", s.configMapURL("bad2")+"?ignoreStoreReadErrorWithClusterBreakingPotential=true", ""))
	s.must(http.StatusNotFound, s.do("GET", s.configMapURL("bad1"), ""))
	s.must(http.StatusOK, s.do("GET", "/api/v1/namespaces/default/configmaps", ""))
}

func TestUnsafeDeleteNeedsItsOwnVerb(t *testing.T) {
	s := newAuthorizedTestServer(t, denyVerb{verb: "unsafe-delete-ignore-read-errors"}, func(c *Config) { c.Authenticator = userOfHeader })
	s.corrupt("bad")
	body := `{"kind":"DeleteOptions","apiVersion":"v1",` + unsafeOption + `}`
	got := s.status(s.must(http.StatusForbidden, s.do("DELETE", s.configMapURL("bad"), body, "User: jane")))
	if want := `configmaps "bad" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: `; got.Message != want {
		t.Errorf("got %s", got.Message)
	}
	s.must(http.StatusOK, s.do("DELETE", s.configMapURL("bad"), body))
}

func TestWatchOfUnsafeDelete(t *testing.T) {
	s := newTestServer(t, nil)
	s.corrupt("bad")
	res := s.open("GET", "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion="+s.revision()+"&timeoutSeconds=600", "")
	defer res.Body.Close()
	s.must(http.StatusOK, s.do("DELETE", s.configMapURL("bad"), `{"kind":"DeleteOptions","apiVersion":"v1",`+unsafeOption+`}`))
	var event struct {
		Type   string
		Object metav1.Status
	}
	if err := json.NewDecoder(res.Body).Decode(&event); err != nil {
		t.Fatal(err)
	}
	const want = "saw a DELETED event, but object data is corrupt - object not decodable revision="
	if event.Type != "ERROR" || event.Object.Reason != metav1.StatusReasonStoreReadError || !strings.HasPrefix(event.Object.Message, want) {
		t.Errorf("got %+v", event)
	}
}

// revision returns the current revision of etcd.
func (s *testServer) revision() string {
	s.t.Helper()
	resp, err := s.etcd.Get(s.t.Context(), "/")
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(resp.Header.Revision)
}

// TestNoOpUpdateMigratesStorage stores an object as JSON, as an old release may have done. The
// first PUT without a change stores it in protobuf, the second one writes nothing.
func TestNoOpUpdateMigratesStorage(t *testing.T) {
	s := newTestServer(t, nil)
	old := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"11111111-2222-3333-4444-555555555555",` +
		`"creationTimestamp":"2020-01-01T00:00:00Z"},"data":{"k":"v"}}`
	if _, err := s.etcd.Put(t.Context(), "/registry/configmaps/default/a", old); err != nil {
		t.Fatal(err)
	}
	before := s.must(http.StatusOK, s.do("GET", s.configMapURL("a"), "")).body
	first := s.must(http.StatusOK, s.do("PUT", s.configMapURL("a"), before)).body
	if first == before {
		t.Error("the object is not migrated")
	}
	stored, err := s.etcd.Get(t.Context(), "/registry/configmaps/default/a")
	if err != nil || !strings.HasPrefix(string(stored.Kvs[0].Value), "k8s\x00") {
		t.Errorf("stored is %q (%v)", stored.Kvs[0].Value, err)
	}
	if second := s.must(http.StatusOK, s.do("PUT", s.configMapURL("a"), first)).body; second != first {
		t.Errorf("the object is stored again: %s", second)
	}
}
