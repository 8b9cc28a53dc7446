package host_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/internal/host"
)

// TestRestartAtTheSameAddress stops a server and starts it again with its data.
func TestRestartAtTheSameAddress(t *testing.T) {
	e := newEnv(t, host.Config{})
	options := host.ServerOptions{DataDir: t.TempDir()}
	first := e.create(options)
	createConfigMap(t, first.Kubeconfig, "a")
	e.call("DELETE", "/v1/servers/"+first.ID, nil, http.StatusNoContent, nil)
	address, err := url.Parse(first.URL)
	if err != nil {
		t.Fatal(err)
	}
	options.Address = address.Host
	second := e.create(options)
	if second.URL != first.URL {
		t.Errorf("the server is at %s, want %s", second.URL, first.URL)
	}
	if names := configMapNames(t, clientOf(t, first.Kubeconfig)); len(names) != 1 {
		t.Errorf("ConfigMaps after the restart: %v", names)
	}
	if fork := e.create(host.ServerOptions{Fork: second.ID}); fork.URL == second.URL {
		t.Error("the fork has the address of its origin")
	}
	for _, invalid := range []host.ServerOptions{{Address: "0.0.0.0:0"}, {Address: "localhost"}, {Address: "127.0.0.1:x"}, {KeepRequests: -1}} {
		e.call("POST", "/v1/servers", invalid, http.StatusUnprocessableEntity, nil)
	}
}

func TestWritesAndKeptRequests(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{KeepRequests: 70, Users: []host.UserOptions{{Name: "controller", Groups: []string{"system:masters"}}}})
	path, client := "/v1/servers/"+server.ID, clientOf(t, server.Users[0].Kubeconfig)
	createConfigMap(t, server.Kubeconfig, "a")
	createConfigMap(t, server.Users[0].Kubeconfig, "b")
	for range 80 {
		if _, err := client.CoreV1().ConfigMaps("default").List(context.Background(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var writes []struct{ Name, User, Event string }
	e.call("GET", path+"/writes?user=controller&after=1", nil, http.StatusOK, &writes)
	if len(writes) != 1 || writes[0].Name != "b" || writes[0].User != "controller" || writes[0].Event != "Created" {
		t.Errorf("writes %v", writes)
	}
	e.call("GET", path+"/writes?after=x", nil, http.StatusUnprocessableEntity, nil)
	var requests []struct{ Verb string }
	e.call("GET", path+"/requests", nil, http.StatusOK, &requests)
	if len(requests) != 70 {
		t.Errorf("%d requests", len(requests))
	}
}
