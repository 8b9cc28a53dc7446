package registry_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// Two clients have read the same ConfigMap. The first update succeeds. The second client then has
// a stale copy, and its update conflicts. A patch, which changes the stored object, succeeds.
func ExampleStore_Update() {
	ctx := context.Background()
	store, stop := openConfigMaps(ctx)
	defer stop()
	result, err := store.Create(ctx, registry.CreateRequest{
		Namespace: "default",
		Object:    &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "demo"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	created, err := registry.As[*corev1.ConfigMap](result.Entry)
	if err != nil {
		log.Fatal(err)
	}
	first, second := created.DeepCopy(), created.DeepCopy()
	write := func(propose func(context.Context, runtime.Object) (runtime.Object, error)) error {
		_, err := store.Update(ctx, registry.UpdateRequest{Namespace: "default", Name: "demo", Propose: propose})
		return err
	}

	first.Data = map[string]string{"writer": "first"}
	fmt.Println(write(func(context.Context, runtime.Object) (runtime.Object, error) { return first, nil }))

	second.Data = map[string]string{"writer": "second"}
	err = write(func(context.Context, runtime.Object) (runtime.Object, error) { return second, nil })
	fmt.Println(apierrors.IsConflict(err), err)

	fmt.Println(write(func(_ context.Context, current runtime.Object) (runtime.Object, error) {
		changed := current.DeepCopyObject().(*corev1.ConfigMap)
		changed.Data["writer"] += " and second"
		return changed, nil
	}))

	entry, err := store.Get(ctx, "default", "demo", "")
	if err != nil {
		log.Fatal(err)
	}
	obj, err := entry.Object()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(obj.(*corev1.ConfigMap).Data["writer"])
	// Output:
	// <nil>
	// true Operation cannot be fulfilled on configmaps "demo": the object has been modified; please apply your changes to the latest version and try again
	// <nil>
	// first and second
}

// openConfigMaps returns the store of ConfigMaps of a new catalog with its own etcd.
func openConfigMaps(ctx context.Context) (store *registry.Store, stop func()) {
	server, err := embedded.Start(ctx, embedded.Config{})
	if err != nil {
		log.Fatal(err)
	}
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true})
	if err != nil {
		log.Fatal(err)
	}
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: backend.Store})
	if err := catalog.Add(registrytest.ConfigMaps()); err != nil {
		log.Fatal(err)
	}
	store, _ = catalog.Snapshot().Store(schema.GroupResource{Resource: "configmaps"})
	return store, func() {
		if err := server.Close(ctx); err != nil {
			log.Fatal(err)
		}
	}
}
