package miniapitest_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/miniapitest"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func clientset(t testing.TB, server *miniapi.Server) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	check(t, err)
	return client
}

// emptyTemp returns a function that fails the test unless the directory for temporary files is
// empty.
func emptyTemp(t *testing.T) (checkEmpty func()) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	return func() {
		t.Helper()
		left, err := os.ReadDir(temp)
		check(t, err)
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// createAndList creates an object whose name is the same in every server, and checks that the list
// has no other object.
func createAndList(t testing.TB, server *miniapi.Server, content string) {
	t.Helper()
	configMaps := clientset(t, server).CoreV1().ConfigMaps("default")
	_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "same"}, Data: map[string]string{"of": content},
	}, metav1.CreateOptions{})
	check(t, err)
	list, err := configMaps.List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 1 || list.Items[0].Data["of"] != content {
		t.Errorf("server %s sees %v", content, list.Items)
	}
}

func TestHundredTestsAreIsolated(t *testing.T) {
	checkEmpty := emptyTemp(t)
	servers := make([]*miniapi.Server, 100)
	t.Run("all", func(t *testing.T) {
		for i := range servers {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				servers[i] = miniapitest.Start(t, miniapitest.Options{})
				createAndList(t, servers[i], t.Name())
			})
		}
	})
	for _, server := range servers {
		checkStopped(t, server)
	}
	checkEmpty()
}

func TestHundredServersOfOneTest(t *testing.T) {
	checkEmpty := emptyTemp(t)
	servers := make([]*miniapi.Server, 100)
	t.Run("all", func(t *testing.T) {
		for i := range servers {
			servers[i] = miniapitest.Start(t, miniapitest.Options{})
		}
		for i, server := range servers {
			createAndList(t, server, fmt.Sprint(i))
		}
	})
	for _, server := range servers {
		checkStopped(t, server)
	}
	checkEmpty()
}

func checkStopped(t *testing.T, server *miniapi.Server) {
	t.Helper()
	select {
	case <-server.Done():
	default:
		t.Errorf("%s has not ended with its test", server.URL())
	}
}

// The cleanups of a test can still use the server.
func TestCleanupsRunBeforeTheServerStops(t *testing.T) {
	var server *miniapi.Server
	t.Run("test", func(t *testing.T) {
		server = miniapitest.Start(t, miniapitest.Options{})
		t.Cleanup(func() {
			resp, err := http.Get(server.URL() + "/readyz")
			check(t, err)
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "ok" {
				t.Errorf("ready: %q, %v", body, err)
			}
		})
	})
	checkStopped(t, server)
}

func TestServerStoppedByTheTest(t *testing.T) {
	got := runTest(func(t testing.TB) {
		if err := miniapitest.Start(t, miniapitest.Options{Config: silent}).Stop(context.Background()); err != nil {
			t.Errorf("%v", err)
		}
	})
	if got.failed || got.log.Len() > 0 {
		t.Errorf("failed %v: %s", got.failed, &got.log)
	}
}

func TestFailedStartEndsTheTest(t *testing.T) {
	checkEmpty := emptyTemp(t)
	got := runTest(func(t testing.TB) {
		miniapitest.Start(t, miniapitest.Options{Config: miniapi.Config{Listen: "nowhere"}})
		t.Logf("not reached")
	})
	const want = "miniapitest: the server of TestRecorded did not start: listen address \"nowhere\" is not HOST:PORT, such as 127.0.0.1:8080\n"
	if !got.failed || got.log.String() != want {
		t.Errorf("failed %v: %s", got.failed, &got.log)
	}
	checkEmpty()
}

func TestFailedStopFailsTheTest(t *testing.T) {
	cluster := miniapitest.Start(t, miniapitest.Options{Config: miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:0"}}})
	got := runTest(func(t testing.TB) {
		server := miniapitest.Start(t, miniapitest.Options{Config: miniapi.Config{EtcdServers: cluster.EtcdClientURLs()}})
		if err := server.EtcdClient().Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	if !got.failed || !strings.Contains(got.log.String(), "miniapitest: the server of TestRecorded did not stop cleanly: ") {
		t.Errorf("failed %v: %s", got.failed, &got.log)
	}
}

func TestServerLogsToTheTest(t *testing.T) {
	start := func(options miniapitest.Options) string {
		return runTest(func(t testing.TB) { miniapitest.Start(t, options) }).log.String()
	}
	if got := start(miniapitest.Options{}); strings.Contains(got, "level=INFO") {
		t.Errorf("default level: %s", got)
	}
	if got := start(miniapitest.Options{LogLevel: slog.LevelDebug}); !strings.Contains(got, "level=INFO") || !strings.Contains(got, "component=etcd") {
		t.Errorf("debug level: %q", got)
	}
	var custom strings.Builder
	config := miniapi.Config{Logger: slog.New(slog.NewTextHandler(&custom, nil))}
	if got := start(miniapitest.Options{Config: config, LogLevel: slog.LevelDebug}); got != "" || custom.Len() == 0 {
		t.Errorf("the configured logger has %q, the test %q", &custom, got)
	}
}

// The recorder panics on output after the test, as package testing does.
func TestNothingIsLoggedAfterTheTest(t *testing.T) {
	var logger *slog.Logger
	got := runTest(func(t testing.TB) {
		logger = miniapitest.NewLogger(t, nil)
		logger.Info("unimportant")
		logger.Warn("in time")
	})
	logger.Error("too late")
	if text := got.log.String(); !strings.HasSuffix(text, " level=WARN msg=\"in time\"\n") || strings.Count(text, "\n") != 1 {
		t.Errorf("logged: %q", text)
	}
}
