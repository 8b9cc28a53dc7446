package embedded_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestClientsOfOtherProcessesCanConnect(t *testing.T) {
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
		<-watch // it is there
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

func TestConnectedClientsDoNotKeepTheServer(t *testing.T) {
	server := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	client := connect(t, server.ClientURLs()[0])
	<-client.Watch(t.Context(), "/a", clientv3.WithCreatedNotify())
	stop(t, server)
}

func TestBusyPortIsAOneLineError(t *testing.T) {
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
