package testapis_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/activity"
	"github.com/miniapi/miniapi/versioner"
)

// activityOf lists a resource of the group miniapi.dev.
func activityOf[T any](t *testing.T, c *kubernetes.Clientset, resource string) []T {
	t.Helper()
	body, err := raw(t, c, "/apis/miniapi.dev/v1alpha1/"+resource)
	check(t, err)
	var list struct{ Items []T }
	check(t, json.Unmarshal(body, &list))
	return list.Items
}

// eventually repeats a check until it holds.
func eventually(t *testing.T, description string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatal(description)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func create(t *testing.T, c *kubernetes.Clientset, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	created, err := c.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": strings.Repeat("x", 10_000)}}, metav1.CreateOptions{})
	check(t, err)
	return created
}

// smallReads opens connections that hold little that the client does not read.
var smallReads = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	}
	return conn, err
}}

// A watch that selects no change is not behind, and one whose client does not read is.
func TestWatchesShowTheirBacklog(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c, _ := client(t, server, "reader")
	read, err := c.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{LabelSelector: "a=b", ResourceVersion: "1"})
	check(t, err)
	defer read.Stop()
	last := create(t, c, "kube-system", "other")
	revision, err := versioner.APIObjectVersioner{}.ParseResourceVersion(last.ResourceVersion)
	check(t, err)
	eventually(t, "the watch is not up to date", func() bool {
		list := activityOf[activity.Watch](t, c, "watches")
		return len(list) == 1 && list[0] == activity.Watch{
			Resource: "configmaps", Version: "v1", Namespace: "default", LabelSelector: "a=b", User: "system:admin",
			UserAgent: "reader/v1", Sent: revision, Current: revision,
		}
	})

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/api/v1/configmaps?watch=true", nil)
	check(t, err)
	request.Header.Set("User-Agent", "idle")
	response, err := smallReads.RoundTrip(request)
	check(t, err)
	defer response.Body.Close()
	first := make([]byte, 1)
	_, err = io.ReadFull(response.Body, first)
	check(t, err)
	n := 0
	eventually(t, "the idle watch has no backlog", func() bool { // the buffers of the connection are limited
		n++
		_, err := c.CoreV1().ConfigMaps("kube-system").Patch(t.Context(), "other", types.MergePatchType, fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n), metav1.PatchOptions{})
		check(t, err)
		return slices.ContainsFunc(activityOf[activity.Watch](t, c, "watches"), func(w activity.Watch) bool {
			return w.UserAgent == "idle" && w.Waiting > 0 && w.Sent < w.Current && w.Events > 0
		})
	})
}

// The oldest revision is the last compacted one.
func TestServerShowsCompaction(t *testing.T) {
	config := withTestAPIs
	config.CompactionInterval = 5 * time.Minute
	server := servertest.Start(t, config)
	c, _ := client(t, server, "reader")
	state := func() activity.Server { return activityOf[activity.Server](t, c, "servers")[0] }
	created := create(t, c, "default", "a")
	if s := state(); s.Oldest != 1 || versioner.Format(s.Revision) != created.ResourceVersion || s.Size == 0 || s.InUse == 0 || s.Retention != 300 {
		t.Errorf("%+v", s)
	}
	for i := range 3 {
		revision := state().Revision - 1
		_, err := server.EtcdClient().Compact(t.Context(), revision)
		check(t, err)
		if s := state(); s.Oldest != revision {
			t.Errorf("oldest %d after a compaction at %d", s.Oldest, revision)
		}
		create(t, c, "default", fmt.Sprint("b", i))
		create(t, c, "default", fmt.Sprint("c", i))
	}
}

func TestRequestsNameClients(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	writer, _ := client(t, server, "writer")
	create(t, writer, "default", "a")
	_, err := writer.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	reader, _ := client(t, server, "reader")
	list := activityOf[activity.Request](t, reader, "requests")
	i := slices.IndexFunc(list, func(r activity.Request) bool { return r.UserAgent == "writer/v1" })
	if i < 0 {
		t.Fatalf("no requests of the writer: %+v", list)
	}
	r := list[i]
	if r.Verb != "create" || r.Resource != "configmaps" || r.Count != 2 || r.Conflicts != 1 || r.Errors != 1 ||
		r.LastError.Reason != "AlreadyExists" || r.LastError.URI != "/api/v1/namespaces/default/configmaps" || r.Slowest.Microseconds != r.Durations.Max {
		t.Errorf("%+v", r)
	}
	table, err := reader.RESTClient().Get().AbsPath("/apis/miniapi.dev/v1alpha1/requests").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil || !strings.Contains(string(table), `"writer","create","configmaps",2,`) {
		t.Errorf("%v: %s", err, table)
	}
}
