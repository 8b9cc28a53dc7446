package embedded_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestClientsConnectOverTCP(t *testing.T) {
	server := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0", "http://localhost:0"}})
	if len(server.ClientURLs()) != 2 {
		t.Fatalf("listens at %v", server.ClientURLs())
	}
	put(t, server.Client(), "/a", "1")
	for _, url := range server.ClientURLs() {
		client := connect(t, url)
		if got := get(t, client, "/a"); got != "1" {
			t.Errorf("%s: /a is %q", url, got)
		}
		watch := client.Watch(t.Context(), "/b", clientv3.WithCreatedNotify())
		<-watch // the watch is created
		put(t, server.Client(), "/b", "2")
		if response := <-watch; len(response.Events) != 1 || string(response.Events[0].Kv.Value) != "2" {
			t.Errorf("%s: watch has %v", url, response)
		}
		if _, err := client.Status(t.Context(), url); err != nil {
			t.Errorf("%s: status: %v", url, err)
		}
	}
	members, err := server.Client().MemberList(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := members.Members[0].ClientURLs; strings.Join(got, " ") != strings.Join(server.ClientURLs(), " ") {
		t.Errorf("member list says %v", got)
	}
}

func TestCloseWithConnectedClients(t *testing.T) {
	server := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	client := connect(t, server.ClientURLs()[0])
	<-client.Watch(t.Context(), "/a", clientv3.WithCreatedNotify())
	stop(t, server)
}

func TestCloseWithIdleConnections(t *testing.T) {
	server := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	for _, beginning := range []string{"", "GET /health", "PRI * HTTP/2.0\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.ClientURLs()[0], "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, beginning); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestHTTPPagesAndGRPCShareThePort(t *testing.T) {
	server := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	url := server.ClientURLs()[0]
	put(t, connect(t, url), "/a", "1")
	for path, want := range map[string]string{
		"/health":  `{"health":"true","reason":""}`,
		"/readyz":  "ok\n",
		"/livez":   "ok\n",
		"/version": `{"etcdserver":"3.`,
		"/metrics": "\netcd_server_has_leader 1\n",
	} {
		response, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %v, want 200 and %q:\n%s", path, response.Status, err, want, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestBusyPort(t *testing.T) {
	busy := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	url := busy.ClientURLs()[0]
	err := startFails(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0", url}})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("error %v", err)
	}
	address := strings.TrimPrefix(url, "http://")
	want := "start embedded etcd: client URL " + url + ": listen tcp " + address + ": bind: address already in use"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func connect(t *testing.T, url string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}
