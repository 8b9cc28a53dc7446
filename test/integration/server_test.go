package integration_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func clientset(t *testing.T, server *miniapi.Server) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	check(t, err)
	return client
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

func TestServersShareNoState(t *testing.T) {
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			server, err := miniapi.Start(t.Context(), miniapi.Config{})
			if err != nil {
				t.Error(err)
				return
			}
			configMaps := clientset(t, server).CoreV1().ConfigMaps("default")
			_, err = configMaps.Create(t.Context(), configMap(fmt.Sprint("server-", i)), metav1.CreateOptions{})
			list, listErr := configMaps.List(t.Context(), metav1.ListOptions{})
			if err := errors.Join(err, listErr, servertest.Stop(server)); err != nil {
				t.Error(err)
				return
			}
			if len(list.Items) != 1 {
				t.Errorf("server %d has %d objects", i, len(list.Items))
			}
		})
	}
	group.Wait()
}

// Stop would return an error if it had to cut a request off or ran into its timeout.
func TestStopDoesNotWaitForClients(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, server *miniapi.Server) (awaitEnd func()){
		"an open watch": func(t *testing.T, server *miniapi.Server) func() {
			resp, err := http.Get(server.URL() + "/api/v1/pods?watch=true")
			check(t, err)
			return func() {
				defer resp.Body.Close()
				if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
					t.Errorf("ended with %q, %v", rest, err)
				}
			}
		},
		"a connection that never sent a request": func(t *testing.T, server *miniapi.Server) func() {
			return dial(t, server, "")
		},
		"an incomplete request": func(t *testing.T, server *miniapi.Server) func() {
			return dial(t, server, "GET /api HTTP/1.1\r\nHost: loc")
		},
		"an idle connection": func(t *testing.T, server *miniapi.Server) func() {
			_, err := clientset(t, server).ServerVersion()
			check(t, err)
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := servertest.Start(t, miniapi.Config{})
			awaitEnd := connect(t, server)
			check(t, servertest.Stop(server))
			awaitEnd()
		})
	}
}

// dial opens a connection and sends data on it. awaitEnd reads it to its end.
func dial(t *testing.T, server *miniapi.Server, data string) (awaitEnd func()) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "http://"))
	check(t, err)
	_, err = io.WriteString(conn, data)
	check(t, err)
	return func() {
		defer conn.Close()
		_, _ = io.ReadAll(conn)
	}
}

// Each of many open watches ends as a complete response, not as a broken connection.
func TestStopEndsManyWatches(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var streams sync.WaitGroup
	for range 100 {
		res, err := client.Get(server.URL() + "/api/v1/configmaps?watch=true")
		check(t, err)
		streams.Go(func() {
			defer res.Body.Close()
			if _, err := io.ReadAll(res.Body); err != nil {
				t.Error(err)
			}
		})
	}
	check(t, servertest.Stop(server))
	streams.Wait()
}

func TestStopIsIdempotent(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	select {
	case <-server.Done():
		t.Fatal("done before Stop")
	default:
	}
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			if err := servertest.Stop(server); err != nil {
				t.Error(err)
			}
			select {
			case <-server.Done():
			default:
				t.Error("Stop returned before the server was done")
			}
		})
	}
	group.Wait()
	if _, err := http.Get(server.URL()); err == nil {
		t.Error("the server answers after Stop")
	}
}

func TestAcknowledgedWritesSurviveStop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	server := servertest.Start(t, miniapi.Config{DataDir: dir})
	configMaps := clientset(t, server).CoreV1().ConfigMaps("default")
	var acknowledged sync.Map
	var writers sync.WaitGroup
	var written atomic.Int64
	enough := make(chan struct{})
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("w%d-%d", w, i)
				if _, err := configMaps.Create(context.Background(), configMap(name), metav1.CreateOptions{}); err != nil {
					return // the server has stopped
				}
				acknowledged.Store(name, true)
				if written.Add(1) == 100 {
					close(enough)
				}
			}
		})
	}
	<-enough
	check(t, servertest.Stop(server))
	writers.Wait()

	server = servertest.Start(t, miniapi.Config{DataDir: dir})
	list, err := clientset(t, server).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	stored := map[string]bool{}
	for _, item := range list.Items {
		stored[item.Name] = true
	}
	acknowledged.Range(func(name, _ any) bool {
		if !stored[name.(string)] {
			t.Errorf("%s was acknowledged and is not stored", name)
		}
		return true
	})
}

func TestFailedStartReleasesEverything(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer busy.Close()
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()

	for name, tc := range map[string]struct {
		ctx    context.Context
		config miniapi.Config
	}{
		"a busy port":                       {t.Context(), miniapi.Config{Listen: busy.Addr().String()}},
		"a busy secure port":                {t.Context(), miniapi.Config{Secure: &miniapi.Secure{Listen: busy.Addr().String()}}},
		"a busy etcd port":                  {t.Context(), miniapi.Config{EtcdListenClientURLs: []string{"http://" + busy.Addr().String()}}},
		"an invalid certificate":            {t.Context(), miniapi.Config{Secure: &miniapi.Secure{CertFile: file, KeyFile: file}}},
		"a data directory that is a file":   {t.Context(), miniapi.Config{DataDir: file}},
		"a data directory with other files": {t.Context(), miniapi.Config{DataDir: filepath.Dir(file)}},
		"a canceled context":                {canceled, miniapi.Config{}},
		"an unreachable cluster":            {canceled, miniapi.Config{EtcdServers: []string{"http://" + freeAddress(t)}}},
		"a canceled context with TLS":       {canceled, miniapi.Config{Secure: &miniapi.Secure{}}},
	} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			if tc.config.Listen == "" {
				tc.config.Listen = freeAddress(t)
				defer checkFree(t, tc.config.Listen)
			}
			if server, err := miniapi.Start(tc.ctx, tc.config); err == nil {
				check(t, servertest.Stop(server))
				t.Fatal("Start succeeded")
			}
			left, err := os.ReadDir(temp)
			check(t, err)
			if len(left) > 0 {
				t.Errorf("remaining files: %v", left)
			}
			check(t, leaktest.Find(before))
		})
	}
}

func freeAddress(t *testing.T) string { return freeAddressOf(t, "127.0.0.1") }

func checkFree(t *testing.T, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	check(t, err)
	check(t, listener.Close())
}

func TestStopRemovesTheTemporaryDirectory(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	server := servertest.Start(t, miniapi.Config{})
	check(t, servertest.Stop(server))
	left, err := os.ReadDir(temp)
	check(t, err)
	if len(left) > 0 {
		t.Errorf("remaining files: %v", left)
	}
}

func TestKubeconfig(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	data, err := server.Kubeconfig()
	check(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	check(t, err)
	if config.Host != server.URL() || config.Host != server.RESTConfig().Host {
		t.Errorf("kubeconfig %s, RESTConfig %s, URL %s", config.Host, server.RESTConfig().Host, server.URL())
	}
}

func TestForeignHostsAndOriginsAreRejected(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	for header, status := range map[[2]string]int{
		{"Host", "localhost"}:              http.StatusOK,
		{"Host", "evil.example"}:           http.StatusForbidden,
		{"Origin", "https://evil.example"}: http.StatusForbidden,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/api/v1/secrets", nil)
		check(t, err)
		req.Header.Set(header[0], header[1])
		if header[0] == "Host" {
			req.Host = header[1]
		}
		resp, err := http.DefaultClient.Do(req)
		check(t, err)
		check(t, resp.Body.Close())
		if resp.StatusCode != status {
			t.Errorf("%v: %s, want %d", header, resp.Status, status)
		}
	}
}

func TestURLOfAnUnspecifiedAddressIsLoopback(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Listen: "0.0.0.0:0", AllowUnauthenticatedNetworkAccess: true})
	if !strings.HasPrefix(server.URL(), "http://127.0.0.1:") {
		t.Errorf("URL %s", server.URL())
	}
	_, err := clientset(t, server).ServerVersion()
	check(t, err)
}

// failingEtcdEnv holds a data directory. If it is set, the test binary calls runUntilEtcdFails, in
// a process of its own since a failed etcd leaves goroutines behind.
const failingEtcdEnv = "MINIAPI_TEST_FAILING_ETCD"

func TestServerEndsWhenEtcdFails(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), failingEtcdEnv+"="+filepath.Join(t.TempDir(), "data"))
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "server ended: embedded etcd gave up: ") {
		t.Errorf("%v: %s", err, out)
	}
}

// runUntilEtcdFails starts a server, moves its data directory away, writes until the server ends,
// and prints the error of Stop.
func runUntilEtcdFails(dir string) {
	ctx := context.Background()
	server, err := miniapi.Start(ctx, miniapi.Config{DataDir: dir})
	if err != nil {
		panic(err)
	}
	if err := os.Rename(dir, dir+"-moved"); err != nil { // in one step, while etcd creates files
		panic(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with the server
		<-server.Done()
		cancel()
	}()
	for ctx.Err() == nil {
		_, _ = server.EtcdClient().Put(ctx, "/a", strings.Repeat("x", 1<<20))
	}
	fmt.Println("server ended:", server.Stop(context.Background()))
}
