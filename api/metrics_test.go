package api

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// sendRequests sends a request of each kind. It returns the metrics while a watch is open and after
// the shutdown.
func sendRequests(s *testServer) (during, after string) {
	s.configMap("a", "1")
	s.must(http.StatusOK, s.do("GET", "/api/v1/namespaces/default/configmaps/a?watch=true", ""))
	s.must(http.StatusNotFound, s.do("GET", "/api/v1/namespaces/default/configmaps/b", ""))
	s.must(http.StatusOK, s.do("GET", "/api/v1/configmaps", ""))
	s.must(http.StatusCreated, s.do("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"b"}}`))
	s.must(http.StatusNotFound, s.do("GET", "/api/v1/namespaces/default/madeups/x", ""))
	s.must(http.StatusUnprocessableEntity, s.do("POST", "/api/v1/namespaces/default/configmaps?dryRun=x", `{"metadata":{"name":"b"}}`))
	s.must(http.StatusOK, s.do("GET", "/livez", ""))
	watch := s.open("GET", "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=1", "")
	defer watch.Body.Close()
	s.must(http.StatusOK, s.do("DELETE", "/api/v1/namespaces/default/configmaps", ""))
	events := bufio.NewReader(watch.Body)
	for range 2 {
		if _, err := events.ReadString('\n'); err != nil {
			s.t.Fatal(err)
		}
	}
	during = s.must(http.StatusOK, s.do("GET", "/metrics", "")).body

	// The shutdown waits until all requests are counted.
	if err := s.api.Shutdown(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	s.api.metrics.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	return during, answer.Body.String()
}

func TestRequestMetrics(t *testing.T) {
	running, text := sendRequests(newTestServer(t, nil))
	const watching = `apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} `
	for rule, line := range map[string]string{
		"a watch in flight":          watching + "1",
		"the request of the metrics": `apiserver_current_inflight_requests{request_kind="readOnly"} 1`,
	} {
		if !strings.Contains(running, line+"\n") {
			t.Errorf("%s: the metrics lack %s", rule, line)
		}
	}
	for rule, line := range map[string]string{
		"a request by its verb and resource":         `apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
		"a failed request":                           `apiserver_request_total{code="404",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"} 1`,
		"a get with the parameter watch is no watch": `apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"} 1`,
		"a list":                     `apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="cluster",subresource="",verb="LIST",version="v1"} 1`,
		"a dry run":                  `apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
		"an invalid dry run":         `apiserver_request_total{code="422",component="apiserver",dry_run="invalid",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
		"a health check":             `apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/livez",verb="GET",version=""} 1`,
		"the duration of a watch":    `apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} 1`,
		"the size of a watch":        `apiserver_response_sizes_count{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} 1`,
		"the service level":          `apiserver_request_sli_duration_seconds_count{component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
		"a watch":                    `apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} 1`,
		"a deletion of a collection": `apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="DELETE",version="v1"} 1`,
		"the duration of a request":  `apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="configmaps",scope="cluster",subresource="",verb="LIST",version="v1"} 1`,
		"the size of a response":     `apiserver_response_sizes_count{component="apiserver",group="",resource="configmaps",scope="cluster",subresource="",verb="LIST",version="v1"} 1`,
		"the events of watches":      `apiserver_watch_events_total{group="",resource="configmaps",version="v1"} 2`,
		"the size of the events":     `apiserver_watch_events_sizes_count{group="",resource="configmaps",version="v1"} 2`,
		"no watch in flight":         watching + "0",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s: the metrics lack %s", rule, line)
		}
	}
	for _, name := range []string{"go_goroutines ", "process_resident_memory_bytes ", "etcd_server_has_leader ", "etcd_mvcc_put_total "} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("the metrics lack %s", name)
		}
	}
	if regexp.MustCompile(`apiserver_request_sli_duration_seconds_count\{[^}]*verb="WATCH"`).MatchString(text) {
		t.Error("watches count for the service level")
	}
	if strings.Contains(text, "madeups") {
		t.Error("a name from a URL is the value of a label")
	}
}

// Each server of a process has its own metrics.
func TestMetricsPerServer(t *testing.T) {
	busy, idle := newStorelessServer(t, nil), newStorelessServer(t, nil)
	busy.must(http.StatusOK, busy.do("GET", "/apis", ""))
	if text := idle.must(http.StatusOK, idle.do("GET", "/metrics", "")).body; strings.Contains(text, "apiserver_request_total{") {
		t.Error("a server counts the requests of another")
	}
}

func TestObjectMetrics(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "1")
	s.configMap("b", "1")
	const line = `apiserver_storage_objects{resource="configmaps"} 2`
	if text := s.must(http.StatusOK, s.do("GET", "/metrics", "")).body; !strings.Contains(text, line+"\n") {
		t.Errorf("the metrics lack %s", line)
	}
}
