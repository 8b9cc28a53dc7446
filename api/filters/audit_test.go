package filters

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/api/audit"
	"github.com/miniapi/miniapi/registry"
)

// openAuditLog opens a log. The returned function closes it and returns its lines.
func openAuditLog(t *testing.T) (*audit.Log, func() []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	log, err := audit.Open(audit.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return log, func() []string {
		t.Helper()
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

func TestAuditLogHasAnnotationsOfTheAuthentication(t *testing.T) {
	log, lines := openAuditLog(t)
	authenticate := func(r *http.Request) (*authenticationv1.UserInfo, error) {
		registry.AddAuditAnnotation(r.Context(), "acme.io/token", "old")
		return &authenticationv1.UserInfo{Username: "jane"}, nil
	}
	handler := chain(func(http.ResponseWriter, *http.Request) {},
		WithAuditID, WithRequestInfo(), WithAuditAnnotations(log), WithAuthentication(authenticate, nil, nil), WithAudit(log))
	serve(handler, newRequest(t, "GET /api/v1/pods"))
	if got := lines(); len(got) != 2 || !strings.Contains(got[1], `"annotations":{"acme.io/token":"old"}`) {
		t.Errorf("got %s", got)
	}
}

func TestAuditLogHasPanics(t *testing.T) {
	log, readLines := openAuditLog(t)
	panics := func(http.ResponseWriter, *http.Request) { panic(NewPanic("out of order")) }
	handler := chain(panics, WithAuditID, WithRequestInfo(), WithAudit(log))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic does not reach the filters before")
			}
		}()
		serve(handler, newRequest(t, "GET /api/v1/pods"))
	}()
	lines := readLines()
	if len(lines) != 2 || !strings.Contains(lines[0], `"stage":"RequestReceived"`) ||
		!strings.Contains(lines[1], `"stage":"Panic"`) || !strings.Contains(lines[1], `"message":"APIServer panic'd: out of order"`) {
		t.Errorf("got %s", lines)
	}
}
