package host_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/host"
)

// createConfigMap creates a ConfigMap in the server of a kubeconfig.
func createConfigMap(t *testing.T, kubeconfig, name string) {
	t.Helper()
	_, err := clientOf(t, kubeconfig).CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRequestsAndObjectsOfAServer(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{LogRequests: true})
	path := "/v1/servers/" + server.ID
	var requests []miniapi.Request
	e.call("GET", path+"/requests", nil, http.StatusOK, &requests)
	if len(requests) > 0 {
		t.Errorf("before the first request: %+v", requests)
	}
	createConfigMap(t, server.Kubeconfig, "a")
	e.call("GET", path+"/requests", nil, http.StatusOK, &requests)
	if len(requests) != 1 || requests[0].Verb != "create" || requests[0].NamespacedName() != "default/a" || requests[0].Code != 201 {
		t.Errorf("requests %+v", requests)
	}
	var objects []miniapi.ObjectNames
	e.call("GET", path+"/objects", nil, http.StatusOK, &objects)
	if len(objects) != 1 || objects[0].Resource != "configmaps" || objects[0].Names[0] != "default/a" {
		t.Errorf("objects %+v", objects)
	}
	var log []string
	e.call("GET", path+"/log", nil, http.StatusOK, &log)
	if !strings.Contains(strings.Join(log, "\n"), "verb=create resource=configmaps name=default/a code=201") {
		t.Errorf("log %q", log)
	}
}

func TestKeptServerOutlivesItsLease(t *testing.T) {
	e := newEnv(t, host.Config{})
	server, events := e.createLeased(host.ServerOptions{})
	path := "/v1/servers/" + server.ID
	var kept, again host.Kept
	e.call("POST", path+"/keep", nil, http.StatusOK, &kept)
	e.call("POST", path+"/keep", nil, http.StatusOK, &again)
	if kept != again || kept.IdleTimeout != "30m0s" {
		t.Errorf("kept %+v, again %+v", kept, again)
	}
	events.close()
	data, err := os.ReadFile(kept.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	createConfigMap(t, string(data), "a")
	e.call("DELETE", path, nil, http.StatusNoContent, nil)
	if _, err := os.Stat(kept.Kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig remains: %v", err)
	}
	e.call("POST", path+"/keep", nil, http.StatusNotFound, nil)
}

func TestKeptServerEndsWhenIdle(t *testing.T) {
	e := newEnv(t, host.Config{KeptIdleTimeout: 10 * time.Millisecond})
	server := e.create(host.ServerOptions{})
	e.call("POST", "/v1/servers/"+server.ID+"/keep", nil, http.StatusOK, nil)
	e.awaitNoServer()
}
