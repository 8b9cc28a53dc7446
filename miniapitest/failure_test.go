package miniapitest_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/miniapitest"
)

func TestFailedTestsHaveTheLastRequestsAndObjects(t *testing.T) {
	test := func(fail bool) string {
		return runTest(func(t testing.TB) {
			server := miniapitest.Start(t, miniapitest.Options{})
			send(t, server.RESTConfig(), "POST", configMaps, `{"metadata":{"name":"settings"}}`)
			send(t, server.RESTConfig(), "PUT", configMaps+"/settings", `{"metadata":{"name":"settings","resourceVersion":"1"}}`)
			send(t, server.RESTConfig(), "GET", "/version?x=y", "")
			if fail {
				t.Errorf("wrong")
			}
		}).log.String()
	}
	if got := test(false); strings.Contains(got, "requests") {
		t.Errorf("a test that passed: %s", got)
	}
	want := regexp.MustCompile(`(?m)^miniapitest: TestRecorded failed. The last requests to its server http://127.0.0.1:\d+, in the order in which they ended:
	TIME +TOOK +CODE +REASON +VERB +RESOURCE +NAME +RESOURCEVERSION +USER +CLIENT
	\d\d:\d\d:\d\d\.\d{3} +\S+s +201 +- +create +configmaps +default/settings +-> \d+ +system:admin +Go-http-client/1.1
	\d\d:\d\d:\d\d\.\d{3} +\S+s +409 +Conflict +update +configmaps +default/settings +1 +system:admin +Go-http-client/1.1
	\d\d:\d\d:\d\d\.\d{3} +\S+s +200 +- +get +/version +- +- +system:admin +Go-http-client/1.1
Its objects:
	configmaps +default/settings
Its conflicts:
	TIME +OBJECT +LOSER +WINNER +FIELDS +RETRIED
	\d\d:\d\d:\d\d\.\d{3} +configmaps default/settings +Go-http-client +Go-http-client +<none> +no
$`)
	if got := test(true); !want.MatchString(got) {
		t.Errorf("a test that failed:\n%s", got)
	}
}

func TestRequests(t *testing.T) {
	server := miniapitest.Start(t, miniapitest.Options{})
	send(t, server.RESTConfig(), "GET", configMaps+"/none", "")
	requests, err := server.Requests(context.Background())
	check(t, err)
	if len(requests) != 1 || requests[0].Verb != "get" || requests[0].Name != "none" || requests[0].Reason != "NotFound" {
		t.Errorf("requests %+v", requests)
	}
}

func TestLoggedRequests(t *testing.T) {
	got := runTest(func(t testing.TB) {
		server := miniapitest.Start(t, miniapitest.Options{LogRequests: true})
		send(t, server.RESTConfig(), "GET", configMaps+"/none", "")
	}).log.String()
	if !strings.Contains(got, "msg=request verb=get resource=configmaps name=default/none code=404 reason=NotFound") {
		t.Errorf("log %q", got)
	}
}

func TestKeptServer(t *testing.T) {
	t.Setenv("MINIAPI_KEEP", "1")
	t.Setenv("KUBECONFIG", "")
	var server *miniapitest.Server
	got := runTest(func(t testing.TB) {
		server = miniapitest.Start(t, miniapitest.Options{})
		t.Errorf("wrong")
	})
	commands := regexp.MustCompile(`(?m)is kept until it has had no request for 30m0s:\n\texport KUBECONFIG=(\S+)\n\t(curl --unix-socket .*)$`).
		FindStringSubmatch(got.log.String())
	if commands == nil {
		t.Fatalf("log %s", &got.log)
	}
	kubeconfig, err := os.ReadFile(commands[1])
	check(t, err)
	if !strings.Contains(string(kubeconfig), server.URL()) {
		t.Errorf("kubeconfig %s", kubeconfig)
	}
	if code, body := send(t, server.RESTConfig(), "GET", configMaps, ""); code != 200 {
		t.Errorf("%d: %s", code, body)
	}
	if out, err := exec.Command("sh", "-c", commands[2]).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := http.Get(server.URL()); err == nil {
		t.Error("the server answers after it was stopped")
	}
}

func TestServersOfPassedTestsAreNotKept(t *testing.T) {
	t.Setenv("MINIAPI_KEEP", "1")
	var server *miniapitest.Server
	if got := runTest(func(t testing.TB) { server = miniapitest.Start(t, miniapitest.Options{}) }); strings.Contains(got.log.String(), "is kept") {
		t.Errorf("log %s", &got.log)
	}
	if _, err := http.Get(server.URL()); err == nil {
		t.Error("the server answers after its test")
	}
}

func TestInvalidEnvironment(t *testing.T) {
	for variable, value := range map[string]string{"MINIAPI_KEEP": "often", "MINIAPI_KUBECONFIG": "/nowhere/kubeconfig"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			got := runTest(func(t testing.TB) { miniapitest.Start(t, miniapitest.Options{}) })
			if !got.failed || !strings.Contains(got.log.String(), variable) || !strings.Contains(got.log.String(), value) {
				t.Errorf("failed %v: %s", got.failed, &got.log)
			}
		})
	}
}

func TestKubeconfigFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("MINIAPI_KUBECONFIG", path)
	server := miniapitest.Start(t, miniapitest.Options{})
	data, err := os.ReadFile(path)
	check(t, err)
	if string(data) != string(server.Kubeconfig()) {
		t.Errorf("kubeconfig %s", data)
	}
}
