package etcd

import (
	"context"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
)

// configMaps is the codec of ConfigMaps in protobuf.
type configMaps struct{}

func (configMaps) Encode(obj runtime.Object) ([]byte, error) {
	return obj.(*corev1.ConfigMap).Marshal()
}

func (configMaps) Decode(data []byte) (runtime.Object, error) {
	obj := &corev1.ConfigMap{}
	return obj, obj.Unmarshal(data)
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

func configMapKey(i int) string { return fmt.Sprintf("/configmaps/default/c%05d", i) }

// startEtcd returns the client of an embedded etcd that ends with the test.
func startEtcd(t testing.TB) *clientv3.Client {
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
	return server.Client()
}

// newStore returns a store of ConfigMaps. Without a client in cfg it starts an embedded etcd.
func newStore(t testing.TB, cfg Config) *resourceStore {
	t.Helper()
	if cfg.Client == nil {
		cfg.Client = startEtcd(t)
		cfg.LocalReads = true
	}
	backend, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return backend.Store(configMaps{}).(*resourceStore)
}

func create(t testing.TB, s *resourceStore, i int) *storage.Entry {
	t.Helper()
	entry, err := s.Create(t.Context(), configMapKey(i), configMap(fmt.Sprint(i)), storage.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return entry
}
