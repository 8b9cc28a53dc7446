package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

func TestComponentStatuses(t *testing.T) {
	env := registrytest.New(t, nil, componentStatuses(feature.Default()), namespaces(feature.Default()))
	store := env.Served("componentstatuses")
	ctx, warnings := registry.WithWarnings(t.Context())
	page, err := store.List(ctx, registry.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got [][]any
	for _, entry := range page.Entries {
		obj, err := entry.Object()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, registrytest.Cells(componentStatuses(feature.Default()), obj))
	}
	want := [][]any{
		{"controller-manager", "Unhealthy", `Get "https://127.0.0.1:10257/healthz": dial tcp 127.0.0.1:10257: connect: connection refused`, ""},
		{"scheduler", "Unhealthy", `Get "https://127.0.0.1:10259/healthz": dial tcp 127.0.0.1:10259: connect: connection refused`, ""},
		{"etcd-0", "Healthy", "ok", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"v1 ComponentStatus is deprecated in v1.19+"}, warnings.List()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestUnavailableStorageIsUnhealthy(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := etcd.New(etcd.Config{Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: backend.Store})
	if err := catalog.Add(componentStatuses(feature.Default()), namespaces(feature.Default())); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	obj, err := getComponentStatus(t.Context(), catalog, "etcd-0")
	if err != nil {
		t.Fatal(err)
	}
	condition := obj.(*corev1.ComponentStatus).Conditions[0]
	if condition.Status != corev1.ConditionFalse || condition.Error == "" {
		t.Errorf("condition %+v", condition)
	}
}

func TestUnknownComponents(t *testing.T) {
	env := registrytest.New(t, nil, componentStatuses(feature.Default()), namespaces(feature.Default()))
	_, err := env.Served("componentstatuses").Get(t.Context(), "", "kubelet", "")
	if !apierrors.IsNotFound(err) || err.Error() != `componentstatus "kubelet" not found` {
		t.Errorf("got %v", err)
	}
}
