package integration_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/storage/embedded"
)

const (
	smallQuota = 16 << 20
	largeValue = 900 << 10
)

func largeConfigMap(name, text string) *corev1.ConfigMap {
	object := configMap(name)
	object.Data = map[string]string{"large": strings.Repeat(text, largeValue/len(text))}
	return object
}

// fetchPath gets a path and returns the status code and the body.
func fetchPath(t *testing.T, server *miniapi.Server, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(server.RESTConfig().Host + path)
	check(t, err)
	defer resp.Body.Close() // read only
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	return resp.StatusCode, string(body)
}

// fill creates large ConfigMaps until the server rejects one. It returns the number of ConfigMaps
// and the error.
func fill(t *testing.T, client kubernetes.Interface) (int, error) {
	t.Helper()
	for i := range 1000 {
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), largeConfigMap(fmt.Sprintf("c%d", i), "x"), metav1.CreateOptions{})
		if err != nil {
			return i, err
		}
	}
	t.Fatal("the quota was not enforced")
	return 0, nil
}

// The history of an object that is updated all the time does not fill the database.
func TestReplacingAnObjectDoesNotFillTheDatabase(t *testing.T) {
	const clients, writes = 4, 20 // writes several times the quota
	server := servertest.Start(t, miniapi.Config{EtcdQuotaBackendBytes: smallQuota})
	maps := clientset(t, server).CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), configMap("shared"), metav1.CreateOptions{})
	check(t, err)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for i := range writes {
				if _, err := maps.Update(t.Context(), largeConfigMap("shared", fmt.Sprintf("%d-%d ", c, i)), metav1.UpdateOptions{}); err != nil {
					t.Errorf("write %d of client %d: %v", i, c, err)
				}
			}
		})
	}
	group.Wait()
	if code, body := fetchPath(t, server, "/readyz?verbose"); code != 200 || !strings.Contains(body, "[+]storage-space ok\n") {
		t.Errorf("/readyz is %d %s", code, body)
	}
	_, body := fetchPath(t, server, "/metrics")
	for _, want := range []string{
		`(?m)^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} [1-9]`,
		`(?m)^miniapi_storage_in_use_bytes\{storage_cluster_id="etcd-0"\} [1-9]`,
		`(?m)^miniapi_storage_quota_bytes\{storage_cluster_id="etcd-0"\} 1\.6777216e\+07$`,
	} {
		if !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}

// If objects use the whole quota, they can be read and deleted, also after a restart.
func TestFullDatabase(t *testing.T) {
	config := miniapi.Config{EtcdQuotaBackendBytes: smallQuota, DataDir: t.TempDir()}
	server, err := miniapi.Start(t.Context(), config)
	check(t, err)
	n, fillErr := fill(t, clientset(t, server))
	check(t, servertest.Stop(server))
	if n < 5 {
		t.Errorf("%d objects fill the database", n)
	}
	want := regexp.MustCompile(`^nothing was written: etcdserver: mvcc: database space exceeded: the objects take \d+\.\d of 16\.0 MiB: ` +
		`delete some of them, or restart with a larger quota \(--etcd-quota-backend-bytes\)$`)
	if !want.MatchString(fillErr.Error()) || apierrors.ReasonForError(fillErr) != metav1.StatusReasonUnknown {
		t.Errorf("got %v", fillErr)
	}

	server = servertest.Start(t, config)
	maps := clientset(t, server).CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), largeConfigMap("new", "x"), metav1.CreateOptions{}); err == nil || !want.MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
	expectNotReady(t, server)
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != n {
		t.Errorf("%d objects, %v; want %d", len(list.Items), err, n)
	}
	check(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	_, err = maps.Create(t.Context(), largeConfigMap("new", "x"), metav1.CreateOptions{})
	check(t, err)
	if code, body := fetchPath(t, server, "/readyz"); code != 200 {
		t.Errorf("/readyz is %d %s", code, body)
	}
}

func expectNotReady(t *testing.T, server *miniapi.Server) {
	t.Helper()
	code, body := fetchPath(t, server, "/readyz")
	if code != 500 || !strings.Contains(body, "[-]storage-space failed: the objects take ") {
		t.Errorf("/readyz is %d %s", code, body)
	}
	if code, body := fetchPath(t, server, "/livez"); code != 200 {
		t.Errorf("/livez is %d %s", code, body)
	}
}

// The NOSPACE alarm of etcd survives a restart and rejects all puts until Start disarms it.
func TestStartDisarmsTheSpaceAlarm(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir()}
	server, err := miniapi.Start(t.Context(), config)
	check(t, err)
	_, err = clientset(t, server).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("kept"), metav1.CreateOptions{})
	check(t, err)
	check(t, servertest.Stop(server))
	raiseAlarm(t, config.DataDir)

	server = servertest.Start(t, config)
	maps := clientset(t, server).CoreV1().ConfigMaps("default")
	_, err = maps.Get(t.Context(), "kept", metav1.GetOptions{})
	check(t, err)
	_, err = maps.Create(t.Context(), configMap("new"), metav1.CreateOptions{})
	check(t, err)
}

// raiseAlarm fills an etcd through its client port, where the server does not compact history.
func raiseAlarm(t *testing.T, dataDir string) {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{
		DataDir: dataDir, QuotaBytes: 4 << 20, ListenClientURLs: []string{"http://127.0.0.1:0"},
	})
	check(t, err)
	client, err := clientv3.New(clientv3.Config{Endpoints: server.ClientURLs(), Logger: zap.NewNop()})
	check(t, err)
	for err == nil {
		_, err = client.Put(t.Context(), "/large", strings.Repeat("x", 1<<20))
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatal(err)
	}
	check(t, client.Close())
	check(t, server.Close(t.Context()))
}
