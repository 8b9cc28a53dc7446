package etcd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// jsonConfigMaps is the codec of the example.
type jsonConfigMaps struct{}

func (jsonConfigMaps) Encode(obj runtime.Object) ([]byte, error) { return json.Marshal(obj) }

func (jsonConfigMaps) Decode(data []byte) (runtime.Object, error) {
	obj := &corev1.ConfigMap{}
	return obj, json.Unmarshal(data, obj)
}

// The resourceVersion of an object is the ModRevision of its key.
func Example() {
	ctx := context.Background()
	server, err := embedded.Start(ctx, embedded.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = server.Close(ctx) }()
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true})
	if err != nil {
		log.Fatal(err)
	}
	store := backend.Store(jsonConfigMaps{})

	created, err := store.Create(ctx, "/configmaps/default/a",
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, storage.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	raw, err := server.Client().Get(ctx, "/registry/configmaps/default/a")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the entry's revision is the key's ModRevision:", created.Revision == raw.Kvs[0].ModRevision)

	_, err = store.Create(ctx, "/configmaps/default/a", &corev1.ConfigMap{}, storage.CreateOptions{})
	fmt.Println(err)
	// Output:
	// the entry's revision is the key's ModRevision: true
	// create /configmaps/default/a: already exists
}
