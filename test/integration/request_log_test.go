package integration_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/servertest"
)

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// sendAll sends requests "METHOD PATH BODY" one after another. A body that begins with { is JSON,
// for PATCH a merge patch; one that begins with [ is a JSON patch; any other is an apply
// configuration. A watch without timeoutSeconds is closed when it has begun.
func sendAll(t *testing.T, server *miniapi.Server, user string, requests ...string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, line := range requests {
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader(body))
		check(t, err)
		r.Header.Set("User-Agent", "tester/1")
		r.Header.Set("Audit-Id", "id")
		r.Header.Set("Content-Type", "application/json")
		if user != "" {
			r.Header.Set("Impersonate-User", user)
		}
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", map[byte]string{
				'{': "application/merge-patch+json", '[': "application/json-patch+json",
			}[body[0]])
			if body[0] != '{' && body[0] != '[' {
				r.Header.Set("Content-Type", "application/apply-patch+yaml")
			}
		}
		response, err := client.Do(r)
		check(t, err)
		if strings.Contains(path, "watch=true") && !strings.Contains(path, "timeoutSeconds") {
			check(t, response.Body.Close())
			check(t, server.AwaitIdle(t.Context()))
			continue
		}
		_, err = io.Copy(io.Discard, response.Body)
		check(t, err)
		check(t, response.Body.Close())
	}
}

// summary returns one line: verb, resource, name, code, reason, versions and user.
func summary(base int64, r miniapi.Request) string {
	versions := r.ResourceVersion + ">"
	if r.Revision != 0 {
		versions += fmt.Sprint("+", r.Revision-base)
	}
	user := r.User
	if r.ImpersonatedUser != "" {
		user += " as " + r.ImpersonatedUser
	}
	return fmt.Sprintf("%s %s %s %d %s %s %s", r.Verb, r.GroupResource(), r.NamespacedName(), r.Code, r.Reason, versions, user)
}

func TestRequestsAreRecorded(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{RecentRequests: 50, Authorization: miniapi.RBAC})
	const configMaps = "/api/v1/namespaces/default/configmaps"
	sendAll(t, server, "",
		"POST "+configMaps+` {"metadata":{"name":"a"}}`,
		"PUT "+configMaps+`/a {"metadata":{"name":"a","resourceVersion":"1"}}`,
		"PUT "+configMaps+`/a {"metadata":{"name":"a"},"data":{"k":"v"}}`,
		"PATCH "+configMaps+`/a {"metadata":{"resourceVersion":"1"},"data":{"k":"w"}}`,
		"PATCH "+configMaps+`/a [{"op":"test","path":"/metadata/resourceVersion","value":"2"}]`,
		"PATCH "+configMaps+"/b?fieldManager=m kind: ConfigMap\napiVersion: v1\nmetadata: {name: b, resourceVersion: \"3\"}",
		"POST "+configMaps+` {"metadata":{"name":"a"}}`,
		"GET "+configMaps+"/a?resourceVersion=0",
		"GET "+configMaps+"?resourceVersion=1&resourceVersionMatch=NotOlderThan",
		"GET "+configMaps+"?watch=true&resourceVersion=1",
		"DELETE "+configMaps+`/a {"preconditions":{"resourceVersion":"1"}}`,
		"DELETE "+configMaps+"/a",
		"GET /apis/apps/v1/namespaces/default/deployments/none/scale",
		"GET /version",
		"GET /nothing",
	)
	sendAll(t, server, "jane", "GET "+configMaps)
	records := server.Requests()
	if len(records) == 0 || records[0].Revision == 0 {
		t.Fatalf("records %v", records)
	}
	var got []string
	for _, record := range records {
		if record.AuditID != "id" || record.UserAgent != "tester/1" || record.Time.IsZero() || record.Duration <= 0 {
			t.Errorf("record %+v", record)
		}
		got = append(got, summary(records[0].Revision, record))
	}
	want := []string{
		"create configmaps default/a 201  >+0 system:admin",
		"update configmaps default/a 409 Conflict 1> system:admin",
		"update configmaps default/a 200  >+1 system:admin",
		"patch configmaps default/a 409 Conflict 1> system:admin",
		"patch configmaps default/a 422 Invalid 2> system:admin",
		"patch configmaps default/b 201  3>+2 system:admin",
		"create configmaps default/a 409 AlreadyExists > system:admin",
		"get configmaps default/a 200  0>+1 system:admin",
		"list configmaps default/ 200  1>+2 system:admin",
		"watch configmaps default/ 200  1> system:admin",
		"delete configmaps default/a 409 Conflict 1> system:admin",
		"delete configmaps default/a 200  >+3 system:admin",
		"get deployments.apps/scale default/none 404 NotFound > system:admin",
		"get   200  > system:admin",
		"get   404  > system:admin",
		"list configmaps default/ 403 Forbidden > system:admin as jane",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGeneratedNamesAreRecorded(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{RecentRequests: 2})
	sendAll(t, server, "", `POST /api/v1/namespaces/default/configmaps {"metadata":{"generateName":"a-"}}`,
		`POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews {"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`)
	records := server.Requests()
	if len(records) != 2 || !regexp.MustCompile(`^a-.{5}$`).MatchString(records[0].Name) || records[1].Name != "" {
		t.Errorf("records %+v", records)
	}
}

func TestOnlyTheLastRequestsAreKept(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{RecentRequests: 3})
	for i := range 5 {
		sendAll(t, server, "", fmt.Sprint("GET /api/v1/namespaces/", i))
	}
	var names string
	for _, record := range server.Requests() {
		names += record.Name
	}
	if names != "234" {
		t.Errorf("names %s, want 234", names)
	}
	if records := servertest.Start(t, miniapi.Config{}).Requests(); len(records) > 0 {
		t.Errorf("by default: %v", records)
	}
}

// A watch that fails after its header has the reason of its last event.
func TestFailedWatchesHaveAReason(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{RecentRequests: 1})
	sendAll(t, server, "", "GET /api/v1/pods?watch=true&resourceVersion=99999999&timeoutSeconds=1&resourceVersionMatch=")
	if records := server.Requests(); len(records) != 1 || records[0].Code != http.StatusOK && records[0].Reason == "" {
		t.Errorf("records %+v", records)
	}
}

func TestRequestLog(t *testing.T) {
	for name, tc := range map[string]struct {
		level       slog.Level
		logRequests bool
		lines       int
	}{
		"by default":       {slog.LevelInfo, false, 0},
		"with LogRequests": {slog.LevelInfo, true, 1},
		"with LogRequests and a level above Info": {slog.LevelError, true, 1},
		"with level Debug":                        {slog.LevelDebug, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			log := &logBuffer{}
			logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: tc.level}))
			server := servertest.Start(t, miniapi.Config{Logger: logger, LogRequests: tc.logRequests})
			sendAll(t, server, "jane", `PUT /apis/apps/v1/namespaces/default/deployments/web/status {"metadata":{"name":"web","resourceVersion":"7"}}`)
			check(t, servertest.Stop(server))
			if regexp.MustCompile(`level=(INFO|DEBUG) .*component=etcd`).MatchString(log.String()) {
				t.Errorf("lines of etcd:\n%s", log)
			}
			want := regexp.MustCompile(`(?m)^time=\S+ level=INFO msg=request verb=update resource=deployments.apps/status name=default/web ` +
				`code=404 reason=NotFound resourceVersion=7 took=\S+ user=system:admin impersonatedUser=jane userAgent=tester/1 ` +
				`method=PUT uri=/apis/apps/v1/namespaces/default/deployments/web/status auditID=id$`)
			if got := len(want.FindAllString(log.String(), -1)); got != tc.lines {
				t.Errorf("%d lines, want %d:\n%s", got, tc.lines, log)
			}
		})
	}
}

// The records of etcd below warnings have levels below slog.LevelDebug.
func TestEtcdLogsBelowDebug(t *testing.T) {
	log := &logBuffer{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	check(t, servertest.Stop(servertest.Start(t, miniapi.Config{Logger: logger})))
	if !strings.Contains(log.String(), "level=DEBUG-4 ") || !strings.Contains(log.String(), "component=etcd") {
		t.Errorf("log:\n%s", log)
	}
}

func TestObjectNames(t *testing.T) {
	for _, mode := range []bootstrap.Mode{bootstrap.Minimal, bootstrap.Full} {
		server := servertest.Start(t, miniapi.Config{Bootstrap: mode})
		if names, err := server.ObjectNames(t.Context()); err != nil || len(names) > 0 {
			t.Errorf("%s: after the start: %v, %v", mode, names, err)
		}
		sendAll(t, server, "", `POST /api/v1/namespaces/default/configmaps {"metadata":{"name":"b"}}`,
			`POST /api/v1/namespaces/default/configmaps {"metadata":{"name":"a"}}`,
			`POST /api/v1/namespaces/default/services {"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}}`,
			`POST /api/v1/namespaces {"metadata":{"name":"team"}}`)
		check(t, server.InstallCRDs(t.Context(), write(t, t.TempDir(), "crd.yaml", definition("widgets", "Widget"))))
		sendAll(t, server, "", `POST /apis/example.org/v1/namespaces/team/widgets {"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"}}`)
		names, err := server.ObjectNames(t.Context())
		check(t, err)
		var got []string
		for _, resource := range names {
			got = append(got, resource.Resource+" "+strings.Join(resource.Names, " "))
		}
		want := []string{
			"configmaps default/a default/b", "customresourcedefinitions.apiextensions.k8s.io widgets.example.org",
			"ipaddresses.networking.k8s.io 10.0.0.x", "namespaces team", "services default/web", "widgets.example.org team/w",
		}
		text := regexp.MustCompile(`10\.0\.0\.\d+`).ReplaceAllString(strings.Join(got, "\n"), "10.0.0.x")
		if diff := cmp.Diff(strings.Join(want, "\n"), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", mode, diff)
		}
	}
}
