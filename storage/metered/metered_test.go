package metered_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/metered"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func TestOperationsAreCountedByResource(t *testing.T) {
	recorder := metered.NewRecorder()
	store := recorder.Wrap(configMaps(t), schema.GroupResource{Resource: "configmaps"})
	ctx := t.Context()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}
	const key = "/configmaps/default/a"

	if _, err := store.Create(ctx, key, object, storage.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(ctx, key, object, storage.CreateOptions{}); !errors.Is(err, storage.ErrExists) {
		t.Fatal(err)
	}
	if _, err := store.Get(ctx, key, storage.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.GetList(ctx, "/configmaps/", storage.ListOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	relabel := func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		obj, err := current.Object()
		if err != nil {
			return storage.Proposal{}, err
		}
		changed := obj.(*corev1.ConfigMap).DeepCopy()
		changed.Labels = map[string]string{"a": "b"}
		return storage.Proposal{Object: changed}, nil
	}
	if _, err := store.GuaranteedUpdate(ctx, key, relabel, storage.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Delete(ctx, key, storage.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	gathered := gather(t, recorder)
	for operation, want := range map[string]float64{"create": 2, "get": 1, "list": 1, "update": 1, "delete": 1} {
		if got := gathered["etcd_requests_total"][operation]; got != want {
			t.Errorf("%s: %v operations, want %v", operation, got, want)
		}
		if got := gathered["etcd_request_duration_seconds"][operation]; got != want {
			t.Errorf("%s: %v durations, want %v", operation, got, want)
		}
	}
	if got := gathered["etcd_request_errors_total"]["create"]; got != 1 {
		t.Errorf("create: %v errors, want 1", got)
	}
}

func configMaps(t *testing.T) storage.Interface {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	return backend.Store(&kind.Codec{
		Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		New:  func() runtime.Object { return &corev1.ConfigMap{} },
	})
}

// gather returns counts by metric and operation.
func gather(t *testing.T, collector prometheus.Collector) map[string]map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]map[string]float64{}
	for _, family := range families {
		byOperation := map[string]float64{}
		for _, metric := range family.GetMetric() {
			byOperation[operationOf(metric)] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
		counts[family.GetName()] = byOperation
	}
	return counts
}

func operationOf(metric *dto.Metric) string {
	for _, label := range metric.GetLabel() {
		if label.GetName() == "operation" {
			return label.GetValue()
		}
	}
	return ""
}
