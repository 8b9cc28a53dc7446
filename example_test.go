package miniapi_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
)

// A write from a stale copy is refused, as it would be by a real cluster.
func ExampleStart() {
	if err := staleWrite(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: Operation cannot be fulfilled on configmaps "settings": the object has been modified; please apply your changes to the latest version and try again
}

func staleWrite(ctx context.Context) error {
	server, err := miniapi.Start(ctx, miniapi.Config{})
	if err != nil {
		return err
	}
	defer server.Stop(ctx)
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		return err
	}
	configMaps := client.CoreV1().ConfigMaps("default")
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}
	mine, err := configMaps.Create(ctx, settings, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	theirs := mine.DeepCopy()
	theirs.Data = map[string]string{"colour": "red"}
	if _, err := configMaps.Update(ctx, theirs, metav1.UpdateOptions{}); err != nil {
		return err
	}
	mine.Data = map[string]string{"colour": "blue"}
	_, err = configMaps.Update(ctx, mine, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("want a conflict: %w", err)
	}
	fmt.Println(err)
	return nil
}

// With RBAC another user may do what roles allow, and is told what they do not.
func ExampleServer_AddUser() {
	if err := listAs(context.Background(), "jane"); err != nil {
		log.Fatal(err)
	}
	// Output: configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"
}

func listAs(ctx context.Context, name string) error {
	server, err := miniapi.Start(ctx, miniapi.Config{Authorization: miniapi.RBAC})
	if err != nil {
		return err
	}
	defer server.Stop(ctx)
	config, err := server.AddUser(name, "devs")
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	fmt.Println(err)
	return nil
}
