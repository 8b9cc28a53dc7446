package miniapitest_test

import (
	"fmt"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/miniapitest"
)

func ExampleStart() {
	// In a test file: func TestController(t *testing.T) {
	runTest(func(t testing.TB) {
		server := miniapitest.Start(t, miniapitest.Options{})
		client, err := rest.HTTPClientFor(server.RESTConfig())
		if err != nil {
			t.Fatalf("%v", err)
		}
		response, err := client.Get(server.URL() + "/readyz")
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer response.Body.Close()
		fmt.Println(response.Status)
	})
	// Output: 200 OK
}
