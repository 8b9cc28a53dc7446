package miniapi_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
)

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
