package host_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/internal/host"
	"github.com/miniapi/miniapi/testapi/faults"
)

func TestSettle(t *testing.T) {
	e := newEnv(t, host.Config{})
	hold := faults.Fault{Match: faults.On("watch", "configmaps"), Effect: faults.Effect{Watch: &faults.Watch{Hold: true}}}
	server := e.create(host.ServerOptions{Faults: []faults.Fault{hold}})
	path := "/v1/servers/" + server.ID
	e.call("POST", path+"/settle", nil, http.StatusNoContent, nil)
	e.call("POST", path+"/settle", host.SettleOptions{Quiet: "1ms", Timeout: "1m"}, http.StatusNoContent, nil)
	e.call("POST", path+"/settle", host.SettleOptions{Quiet: "soon"}, http.StatusUnprocessableEntity, nil)
	e.call("POST", path+"/settle", host.SettleOptions{Timeout: "-1s"}, http.StatusUnprocessableEntity, nil)

	w, err := clientOf(t, server.Kubeconfig).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	createConfigMap(t, server.Kubeconfig, "a")
	var answer host.Error
	e.call("POST", path+"/settle", host.SettleOptions{Timeout: "50ms"}, http.StatusGatewayTimeout, &answer)
	if !strings.Contains(answer.Error, "late watch: watch: GET /api/v1/namespaces/default/configmaps?watch=true") {
		t.Errorf("the error does not name the watch: %s", answer.Error)
	}
}

func TestWait(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{})
	createConfigMap(t, server.Kubeconfig, "a")
	for _, c := range []struct {
		options host.WaitOptions
		code    int
		want    string
	}{
		{host.WaitOptions{Object: "cm/a", Condition: "object.metadata.name == 'a'"}, http.StatusNoContent, ""},
		{host.WaitOptions{Object: "cm/b", Deleted: true}, http.StatusNoContent, ""},
		{host.WaitOptions{Object: "cm/a", Condition: "has(object.data)", Timeout: "20ms"}, http.StatusGatewayTimeout, "has(object.data) is false"},
		{host.WaitOptions{Object: "cm/a", Deleted: true, Timeout: "20ms"}, http.StatusGatewayTimeout, "the object exists"},
		{host.WaitOptions{Object: "cm/a"}, http.StatusUnprocessableEntity, "set either condition or deleted"},
		{host.WaitOptions{Object: "wheels/a", Deleted: true}, http.StatusUnprocessableEntity, "no resource type"},
	} {
		var answer host.Error
		into := any(&answer)
		if c.code == http.StatusNoContent {
			into = nil
		}
		e.call("POST", "/v1/servers/"+server.ID+"/wait", c.options, c.code, into)
		if !strings.Contains(answer.Error, c.want) {
			t.Errorf("%+v: %s, want %s", c.options, answer.Error, c.want)
		}
	}
}

func TestAdvance(t *testing.T) {
	e := newEnv(t, host.Config{})
	frozen := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	server := e.create(host.ServerOptions{FrozenAt: &frozen})
	path := "/v1/servers/" + server.ID
	var now host.Time
	e.call("POST", path+"/advance", host.AdvanceOptions{By: "1h"}, http.StatusOK, &now)
	createConfigMap(t, server.Kubeconfig, "a")
	obj, err := clientOf(t, server.Kubeconfig).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := frozen.Add(time.Hour); !now.Now.Equal(want) || !obj.CreationTimestamp.Time.Equal(want) {
		t.Errorf("the time is %v, and of a new object %v; want %v", now.Now, obj.CreationTimestamp, want)
	}
	for _, by := range []string{"", "0s", "-1h", "soon"} {
		e.call("POST", path+"/advance", host.AdvanceOptions{By: by}, http.StatusUnprocessableEntity, nil)
	}
}
