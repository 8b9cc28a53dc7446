package host_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi/internal/host"
)

func configMapNames(t *testing.T, client kubernetes.Interface) []string {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	return names
}

func TestResetAndSnapshots(t *testing.T) {
	e := newEnv(t, host.Config{})
	server := e.create(host.ServerOptions{})
	path, client := "/v1/servers/"+server.ID, clientOf(t, server.Kubeconfig)
	createConfigMap(t, server.Kubeconfig, "a")
	var snapshot host.Snapshot
	e.call("POST", path+"/snapshots", nil, http.StatusOK, &snapshot)
	createConfigMap(t, server.Kubeconfig, "b")

	for _, step := range []struct {
		method, request string
		body            any
		code            int
		want            []string
	}{
		{"POST", "/snapshots/" + snapshot.ID + "/restore", nil, http.StatusNoContent, []string{"a"}},
		{"POST", "/reset", nil, http.StatusNoContent, nil},
		{"POST", "/snapshots/" + snapshot.ID + "/restore", nil, http.StatusNoContent, []string{"a"}},
		{"POST", "/reset", host.ResetOptions{KeepCRDs: true}, http.StatusNoContent, nil},
		{"POST", "/reset", `{"keep": true}`, http.StatusBadRequest, nil},
		{"DELETE", "/snapshots/" + snapshot.ID, nil, http.StatusNoContent, nil},
		{"POST", "/snapshots/" + snapshot.ID + "/restore", nil, http.StatusNotFound, nil},
		{"DELETE", "/snapshots/" + snapshot.ID, nil, http.StatusNotFound, nil},
	} {
		e.call(step.method, path+step.request, step.body, step.code, nil)
		if diff := cmp.Diff(step.want, configMapNames(t, client)); diff != "" {
			t.Errorf("%s %s: %s", step.method, step.request, diff)
		}
	}
}

func TestSnapshotsAreLimited(t *testing.T) {
	e := newEnv(t, host.Config{})
	path := "/v1/servers/" + e.create(host.ServerOptions{}).ID + "/snapshots"
	var last host.Snapshot
	for range 100 {
		e.call("POST", path, nil, http.StatusOK, &last)
	}
	e.call("POST", path, nil, http.StatusTooManyRequests, nil)
	e.call("DELETE", path+"/"+last.ID, nil, http.StatusNoContent, nil)
	e.call("POST", path, nil, http.StatusOK, nil)
}

func TestForks(t *testing.T) {
	crd := filepath.Join(t.TempDir(), "crd.yaml")
	if err := os.WriteFile(crd, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, host.Config{})
	for _, tls := range []bool{false, true} {
		origin := e.create(host.ServerOptions{TLS: tls, CRDs: []string{crd}, Users: []host.UserOptions{{Name: "jane"}}})
		createConfigMap(t, origin.Kubeconfig, "a")
		fork := e.create(host.ServerOptions{Fork: origin.ID, Name: "fork"})
		again := e.create(host.ServerOptions{Fork: fork.ID})

		client := clientOf(t, fork.Kubeconfig)
		createConfigMap(t, fork.Kubeconfig, "b")
		e.call("DELETE", "/v1/servers/"+origin.ID, nil, http.StatusNoContent, nil)
		if diff := cmp.Diff([]string{"a", "b"}, configMapNames(t, client)); diff != "" {
			t.Errorf("the fork: %s", diff)
		}
		if diff := cmp.Diff([]string{"a"}, configMapNames(t, clientOf(t, again.Kubeconfig))); diff != "" {
			t.Errorf("the fork of the fork: %s", diff)
		}
		if _, err := client.Discovery().ServerResourcesForGroupVersion("example.com/v1"); err != nil {
			t.Errorf("custom resources: %v", err)
		}
		if fork.Name != "fork" || len(fork.Users) != 1 || (fork.CA != "") != tls {
			t.Errorf("the fork has the options %+v", fork)
		}
	}
}

func TestInvalidForks(t *testing.T) {
	e := newEnv(t, host.Config{})
	origin := e.create(host.ServerOptions{})
	e.call("POST", "/v1/servers", host.ServerOptions{Fork: "absent"}, http.StatusNotFound, nil)
	e.call("POST", "/v1/servers", host.ServerOptions{Fork: origin.ID, TLS: true}, http.StatusUnprocessableEntity, nil)
}
