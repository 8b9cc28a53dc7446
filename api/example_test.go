package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/miniapi/miniapi/api"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// A server is the handler of a catalog: here the built-in kinds on an embedded etcd.
func Example() {
	ctx := context.Background()
	member, err := embedded.Start(ctx, embedded.Config{})
	if err != nil {
		panic(err)
	}
	defer member.Close(ctx)
	backend, err := etcd.New(etcd.Config{Client: member.Client(), LocalReads: true})
	if err != nil {
		panic(err)
	}
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: backend.Store})
	if err := catalog.Add(kinds.Resources(feature.Default())...); err != nil {
		panic(err)
	}
	server, err := api.New(api.Config{Catalog: catalog, Scheme: kinds.Scheme()})
	if err != nil {
		panic(err)
	}
	defer server.Shutdown(ctx)

	answer := httptest.NewRecorder()
	body := strings.NewReader(`{"metadata":{"name":"n","creationTimestamp":"2001-01-01T00:00:00Z"},"provisioner":"p"}`)
	server.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/apis/storage.k8s.io/v1/storageclasses?fieldValidation=Strict", body))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output: 201 application/json
}
