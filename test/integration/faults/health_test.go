package faults_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/freeport"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/testapi/faults"
)

// Every check that needs etcd fails while etcd is unavailable, names its reason, and recovers.
func TestHealthChecksNameTheReason(t *testing.T) {
	e := startWith(t, miniapi.Config{})
	checks := map[string]string{
		"etcd":           "etcd is unavailable by a fault",
		"etcd-readiness": "etcd is unavailable by a fault",
		"watch-cache":    "etcd does not answer",
		"informer-sync":  "the CustomResourceDefinitions are not synced",
	}
	f := e.faults.Etcd(faults.Match{}, faults.Etcd{Unavailable: true})
	all := e.readiness()
	for name, reason := range checks {
		code, body := e.send("GET", "/readyz/"+name, "")
		if code != http.StatusInternalServerError || !strings.Contains(body, reason) {
			t.Errorf("/readyz/%s is %d %s, want the reason %q", name, code, body, reason)
		}
		if !strings.Contains(all, "[-]"+name+" failed: ") {
			t.Errorf("%s does not fail in /readyz:\n%s", name, all)
		}
	}
	f.Remove()
	e.awaitReady()
	for name := range checks {
		if code, body := e.send("GET", "/readyz/"+name, ""); code != http.StatusOK {
			t.Errorf("/readyz/%s is %d %s after the recovery", name, code, body)
		}
	}
}

// Probes and scrapes are answered while etcd is stopped, long before requests to etcd time out, and
// the server is ready again when etcd is back.
func TestProbesAreAnsweredWithoutEtcd(t *testing.T) {
	addresses, err := freeport.Addresses("127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	config := embedded.Config{DataDir: t.TempDir(), ListenClientURLs: []string{"http://" + addresses[0]}}
	store, err := embedded.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) }) // of the second one
	e := startWith(t, miniapi.Config{Controllers: []string{"-*"}, EtcdServers: store.ClientURLs()})
	e.check(e.create("a"))
	e.check(store.Close(t.Context()))
	t.Run("down", func(t *testing.T) {
		for path, want := range map[string]string{
			"/livez": "[-]etcd failed", "/healthz": "[-]etcd failed", "/readyz": "[-]watch-cache failed: etcd does not answer",
			"/readyz/ping": "ok", "/version": "gitVersion", "/metrics": "miniapi_watch_cache_entries ",
		} {
			t.Run(path[1:], func(t *testing.T) {
				t.Parallel() // the paths share nothing
				if body := probe(t, e.server.URL()+path); !strings.Contains(body, want) || strings.Contains(body, "apiserver_storage_size_bytes") {
					t.Errorf("%s is\n%.2000s", path, body)
				}
			})
		}
	})
	store, err = embedded.Start(t.Context(), config)
	e.check(err)
	e.awaitReady()
}

// An etcd that keeps its connections and does not answer, such as a paused process, is no worse.
func TestProbesAreAnsweredWithASilentEtcd(t *testing.T) {
	store, err := embedded.Start(t.Context(), embedded.Config{DataDir: t.TempDir(), ListenClientURLs: []string{"http://127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	path := newSilentProxy(t, strings.TrimPrefix(store.ClientURLs()[0], "http://"))
	e := startWith(t, miniapi.Config{Controllers: []string{"-*"}, EtcdServers: []string{"http://" + path.address}})
	e.check(e.create("a"))
	path.silence()
	t.Run("silent", func(t *testing.T) {
		for path, want := range map[string]string{
			"/livez": "[-]etcd failed", "/healthz": "[-]etcd failed", "/readyz": "[-]watch-cache failed: etcd does not answer",
			"/metrics": "miniapi_watch_cache_entries ",
		} {
			t.Run(path[1:], func(t *testing.T) {
				t.Parallel() // the paths share nothing
				if body := probe(t, e.server.URL()+path); !strings.Contains(body, want) || strings.Contains(body, "apiserver_storage_size_bytes") {
					t.Errorf("%s is\n%.2000s", path, body)
				}
			})
		}
	})
	if body := probe(t, e.server.URL()+"/metrics/slis"); !strings.Contains(body, `kubernetes_healthcheck{name="etcd",type="livez"} 0`) {
		t.Errorf("after the probes:\n%.2000s", body)
	}
	path.resume()
	e.awaitReady()
}

// awaitReady waits until every check of /readyz passes.
func (e *env) awaitReady() {
	e.Helper()
	e.await(func() bool { return !strings.Contains(e.readiness(), "[-]") })
}

// probe gets a URL with half the time limit of requests that need etcd.
func probe(t *testing.T, url string) string {
	t.Helper()
	const limit = 30 * time.Second
	e := &env{T: t}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	_, body := e.sendIn(ctx, "GET", url, "")
	return body
}
