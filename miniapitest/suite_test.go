package miniapitest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/miniapitest"
)

// poller is a controller without client-go, watches and leader election. It sets the annotation
// "seen" of each ConfigMap.
type poller struct {
	client *http.Client
	url    string
	mistakes
}

// mistakes are mistakes of a poller.
type mistakes struct {
	blind   bool // removes the resourceVersion before an update
	fragile bool // ends with the first error
}

func newPoller(t *testing.T, config *rest.Config, m mistakes) *poller {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	check(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return &poller{client, config.Host + configMaps, m}
}

// call sends a request and decodes the answer.
func (p *poller) call(ctx context.Context, method, url string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// unseen returns the ConfigMaps without the annotation.
func (p *poller) unseen(ctx context.Context) ([]map[string]any, error) {
	var list struct{ Items []map[string]any }
	if err := p.call(ctx, "GET", p.url, nil, &list); err != nil {
		return nil, err
	}
	var unseen []map[string]any
	for _, item := range list.Items {
		annotations, _ := item["metadata"].(map[string]any)["annotations"].(map[string]any)
		if annotations["seen"] == nil {
			unseen = append(unseen, item)
		}
	}
	return unseen, nil
}

// mark sets the annotation of a ConfigMap.
func (p *poller) mark(ctx context.Context, item map[string]any) error {
	meta := item["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations["seen"] = "true"
	meta["annotations"] = annotations
	if p.blind {
		delete(meta, "resourceVersion")
	}
	return p.call(ctx, "PUT", p.url+"/"+meta["name"].(string), item, &item)
}

func (p *poller) run(ctx context.Context) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		items, err := p.unseen(ctx)
		for _, item := range items {
			err = errors.Join(err, p.mark(ctx, item))
		}
		if err != nil && p.fragile {
			return err
		} // otherwise the next tick tries again
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (p *poller) converged(ctx context.Context) error {
	items, err := p.unseen(ctx)
	if err == nil && len(items) > 0 {
		err = fmt.Errorf("%d ConfigMaps are unseen", len(items))
	}
	return err
}

// TestFaultSuite runs the suite on a controller that survives all failures, on one that overwrites
// changes of other clients, and on one that ends with the first error.
func TestFaultSuite(t *testing.T) {
	for _, c := range []struct {
		name     string
		mistakes mistakes
		found    []string
	}{
		{"sound", mistakes{}, nil},
		{"blind", mistakes{blind: true}, []string{"conflict-after-read"}},
		{"fragile", mistakes{fragile: true}, []string{
			"conflict", "conflict-after-read", "timeout-update", "too-many-requests", "server-errors", "restart",
		}},
	} {
		c := c
		t.Run(c.name, func(t *testing.T) {
			miniapitest.FaultSuite{
				Options: miniapitest.Options{TLS: c.name == "sound"},
				Prepare: func(_ context.Context, server *miniapitest.Server) error {
					createConfigMap(t, server, "a")
					return nil
				},
				Change: func(ctx context.Context, config *rest.Config) error {
					body := map[string]any{"metadata": map[string]any{"name": "b"}}
					return newPoller(t, config, mistakes{}).call(ctx, "POST", config.Host+configMaps, body, &body)
				},
				Timeout:       5 * time.Minute, // no run reaches it
				KnownFailures: c.found,
				Parallel:      true,
			}.Run(t, func(t *testing.T, config *rest.Config) (run, converged func(context.Context) error) {
				p := newPoller(t, config, c.mistakes)
				return p.run, p.converged
			})
		})
	}
}

func TestFaultSuiteRejectsUnknownNames(t *testing.T) {
	for name, valid := range map[string]bool{"restart": true, "stale-cache/pods": true, "stale-cache": true, "restarts": false, "": false} {
		err := miniapitest.ValidateSuite(miniapitest.FaultSuite{Skip: []string{name}})
		if (err == nil) != valid || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestDoubledWrites counts creations in comparison with a baseline.
func TestDoubledWrites(t *testing.T) {
	created := func(names ...string) []miniapitest.Write {
		var writes []miniapitest.Write
		for i, name := range names {
			w := miniapitest.Write{Event: "Created", Resource: "pods", Namespace: "default", Name: name}
			if prefix := strings.TrimSuffix(name, "*"); prefix != name {
				w.Name, w.GenerateName, w.Owner = fmt.Sprint(prefix, i), prefix, "ReplicaSet/web"
			}
			writes = append(writes, w)
		}
		return writes
	}
	baseline := created("a", "web-*", "web-*")
	for want, writes := range map[int][]miniapitest.Write{
		0: created("a", "web-*", "web-*", "other"),
		1: created("a", "web-*", "web-*", "web-*"),
		2: created("a", "a", "other", "other"),
	} {
		if got := miniapitest.Doubled(baseline, writes); len(got) != want {
			t.Errorf("%d doubled writes, want %d: %v", len(got), want, got)
		}
	}
}

func TestCollectionsOfWatches(t *testing.T) {
	for uri, want := range map[string]string{
		"/api/v1/pods?watch=true&labelSelector=a%3Db":                      "pods /api/v1/pods?labelSelector=a%3Db",
		"/api/v1/namespaces?watch=true":                                    "namespaces /api/v1/namespaces?",
		"/api/v1/namespaces/x/pods?watch=1":                                "pods /api/v1/namespaces/x/pods?",
		"/apis/apps/v1/namespaces/x/deployments?watch=1&resourceVersion=7": "deployments.apps /apis/apps/v1/namespaces/x/deployments?",
		"/apis/apps/v1/watch/deployments":                                  "",
		"/version":                                                         "",
	} {
		if got := miniapitest.CollectionOf(uri); got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}
