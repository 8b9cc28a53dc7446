package host_test

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/internal/host"
)

func TestFaults(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{})
	path, client := "/v1/servers/"+server.ID+"/faults", clientOf(t, server.Kubeconfig)
	get := func() error {
		_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
		return err
	}
	const unavailable = `{"name": "x", "match": {"verbs": ["get"], "count": 2}, "effect": {"status": {"code": 503}}}`
	var added, found host.ActiveFault
	e.call("POST", path, unavailable, http.StatusOK, &added)
	if err := get(); !apierrors.IsServiceUnavailable(err) {
		t.Error(err)
	}
	e.call("GET", path+"/"+added.ID, nil, http.StatusOK, &found)
	if found.Name != "x" || found.Status.Injected != 1 || found.Effect.Status.Code != 503 {
		t.Errorf("the fault is %+v", found)
	}
	e.call("DELETE", path+"/"+added.ID, nil, http.StatusNoContent, nil)
	if err := get(); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	e.call("DELETE", path+"/"+added.ID, nil, http.StatusNotFound, nil)
	e.call("POST", path, unavailable, http.StatusOK, nil)
	e.call("DELETE", path, nil, http.StatusNoContent, nil)
	var list []host.ActiveFault
	e.call("GET", path, nil, http.StatusOK, &list)
	if len(list) != 0 {
		t.Errorf("faults after their removal: %+v", list)
	}
	e.call("POST", path, `{"effect": {}}`, http.StatusUnprocessableEntity, nil)
	e.call("POST", path, `{"effects": {}}`, http.StatusBadRequest, nil)
}
