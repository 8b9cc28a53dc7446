package api

import (
	"net/http"
	"strings"
	"testing"
)

const tableAccept = "Accept: application/json;as=Table;g=meta.k8s.io;v=v1"

func TestTypesThatAPathDoesNotProduceAreNotAcceptable(t *testing.T) {
	s := newStorelessServer(t, nil)
	const objects = "406: Not Acceptable\\n\\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	for _, tc := range []struct{ path, accept, want string }{
		{"/version", "Accept: text/html", `406: Not Acceptable\n\nAvailable representations: application/json`},
		{"/api", "Accept: text/html", objects},
		{"/apis", "Accept: text/html", "only the following media types are accepted: application/json, "},
		{"/apis/apps", "Accept: text/html", "only the following media types are accepted: application/json, "},
		{"/apis/apps/v1", "Accept: application/cbor", objects},
		{"/apis/apps/v1", tableAccept, "only the following media types are accepted"},
	} {
		got := s.must(http.StatusNotAcceptable, s.do("GET", tc.path, "", tc.accept))
		if !strings.Contains(got.body, tc.want) {
			t.Errorf("%s with %s: %s", tc.path, tc.accept, got.body)
		}
	}
}

func TestReviewsAreNoTables(t *testing.T) {
	s := newStorelessServer(t, nil)
	review := `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	s.must(http.StatusNotAcceptable, s.do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, tableAccept))
}

func TestInvalidTimeoutsAreRejectedOnAllPaths(t *testing.T) {
	s := newStorelessServer(t, nil)
	for _, path := range []string{"/version", "/healthz", "/nothing", "/apis", "/api/v1/pods"} {
		s.must(http.StatusBadRequest, s.do("GET", path+"?timeout=soon", ""))
	}
	s.must(http.StatusOK, s.do("GET", "/version?timeout=-1s", ""))
}
