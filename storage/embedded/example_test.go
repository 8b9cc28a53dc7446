package embedded_test

import (
	"context"
	"fmt"

	"github.com/miniapi/miniapi/storage/embedded"
)

// An etcd in a temporary directory that lives as long as the function.
func ExampleStart() {
	ctx := context.Background()
	server, err := embedded.Start(ctx, embedded.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close(ctx)

	written, err := server.Client().Put(ctx, "/registry/demo", "value")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("written at revision", written.Header.Revision)
	// Output: written at revision 2
}
