package integration_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// definitionObject returns a CustomResourceDefinition of a kind in its own group.
func definitionObject(t *testing.T, kind string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	name, group := strings.ToLower(kind), strings.ToLower(kind)+".example.com"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	check(t, json.Unmarshal(fmt.Appendf(nil, `{"metadata":{"name":"%[1]ss.%[2]s"},
		"spec":{"group":"%[2]s","scope":"Namespaced","names":{"plural":"%[1]ss","singular":"%[1]s","kind":"%[3]s","listKind":"%[3]sList"},
			"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
				"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
					"color":{"type":"string","default":"red","enum":["red","green"]},
					"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}]}}`, name, group, kind), crd))
	return crd
}

// openAPIServer is a server with clients of discovery and OpenAPI.
type openAPIServer struct {
	*miniapi.Server
	definitions definitions.CustomResourceDefinitionInterface
	discovery   *discovery.DiscoveryClient
	http        *http.Client
}

func startOpenAPIServer(t *testing.T) openAPIServer {
	t.Helper()
	server := servertest.Start(t, miniapi.Config{})
	client, err := definitions.NewForConfig(server.RESTConfig())
	check(t, err)
	discovery, err := discovery.NewDiscoveryClientForConfig(server.RESTConfig())
	check(t, err)
	s := openAPIServer{server, client.CustomResourceDefinitions(), discovery, &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(s.http.CloseIdleConnections)
	return s
}

func (s openAPIServer) define(t *testing.T, kind string) {
	t.Helper()
	_, err := s.definitions.Create(t.Context(), definitionObject(t, kind), metav1.CreateOptions{})
	check(t, err)
}

// read gets a document and returns its body, ETag and status code.
func (s openAPIServer) read(path string) (body []byte, etag string, status int, err error) {
	resp, err := s.http.Get(s.URL() + path)
	if err != nil {
		return nil, "", 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return body, resp.Header.Get("ETag"), resp.StatusCode, err
}

func (s openAPIServer) etag(t *testing.T, path string) string {
	t.Helper()
	_, etag, status, err := s.read(path)
	check(t, err)
	if status != http.StatusOK || etag == "" {
		t.Fatalf("%s: status %d, ETag %q", path, status, etag)
	}
	return etag
}

// As soon as a CustomResourceDefinition is created, the documents contain its kind: version 3,
// which client-go reads, and version 2 in protobuf, which kubectl reads.
func TestDefinitionsAreInOpenAPIAtOnce(t *testing.T) {
	s := startOpenAPIServer(t)
	s.define(t, "Gadget")
	document, err := openapi3.NewRoot(s.discovery.OpenAPIV3()).GVSpec(schema.GroupVersion{Group: "gadget.example.com", Version: "v1"})
	check(t, err)
	model := document.Components.Schemas["com.example.gadget.v1.Gadget"]
	if model == nil || model.Properties["spec"].Properties["color"].Default != "red" {
		t.Errorf("model of version 3: %v", model)
	}
	path := document.Paths.Paths["/apis/gadget.example.com/v1/namespaces/{namespace}/gadgets/{name}/status"]
	if path == nil || path.Patch == nil || path.Patch.OperationId != "patchGadgetExampleComV1NamespacedGadgetStatus" {
		t.Errorf("path of the status: %v", path)
	}
	old, err := s.discovery.OpenAPISchema()
	check(t, err)
	color := definitionOf(old, "com.example.gadget.v1.Gadget", "spec", "color")
	if color == nil || color.Default != nil || color.GetType().GetValue()[0] != "string" {
		t.Errorf("color of version 2: %v", color)
	}
}

// definitionOf returns the schema of a field in a document of version 2, or nil.
func definitionOf(document *openapi_v2.Document, name string, fields ...string) *openapi_v2.Schema {
	properties := document.GetDefinitions().GetAdditionalProperties()
	for {
		i := slices.IndexFunc(properties, func(s *openapi_v2.NamedSchema) bool { return s.Name == name })
		if i < 0 {
			return nil
		}
		found := properties[i].Value
		if len(fields) == 0 {
			return found
		}
		name, fields, properties = fields[0], fields[1:], found.GetProperties().GetAdditionalProperties()
	}
}

// An unchanged document keeps its ETag, so that clients do not read it again.
func TestETagsChangeWithTheContent(t *testing.T) {
	s := startOpenAPIServer(t)
	s.define(t, "Gadget")
	others := []string{"/openapi/v3/api/v1", "/openapi/v3/apis/gadget.example.com/v1"}
	all := []string{"/openapi/v2", "/openapi/v3"}
	before := map[string]string{}
	for _, path := range append(others, all...) {
		before[path] = s.etag(t, path)
	}
	s.define(t, "Widget")
	for _, path := range others {
		if got := s.etag(t, path); got != before[path] {
			t.Errorf("%s: the ETag changed, the content did not", path)
		}
	}
	for _, path := range all {
		if got := s.etag(t, path); got == before[path] {
			t.Errorf("%s: the content changed, the ETag did not", path)
		}
	}
	check(t, s.definitions.Delete(t.Context(), "widgets.widget.example.com", metav1.DeleteOptions{}))
	s.awaitRemoved(t, "/openapi/v3/apis/widget.example.com/v1")
	for _, path := range all {
		if got := s.etag(t, path); got != before[path] {
			t.Errorf("%s: the ETag of the restored content differs", path)
		}
	}
}

// awaitRemoved blocks until a document returns 404. A definition is removed after its objects.
func (s openAPIServer) awaitRemoved(t *testing.T, path string) {
	t.Helper()
	for {
		_, _, status, err := s.read(path)
		check(t, err)
		check(t, t.Context().Err())
		if status == http.StatusNotFound {
			return
		}
	}
}

// While definitions change, each link of the index returns a complete document or 404.
func TestDocumentsWhileDefinitionsChange(t *testing.T) {
	s := startOpenAPIServer(t)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := s.readLinkedDocuments(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 10 {
		s.define(t, fmt.Sprintf("Gadget%d", i))
		if i%2 == 1 {
			check(t, s.definitions.Delete(t.Context(), fmt.Sprintf("gadget%[1]ds.gadget%[1]d.example.com", i), metav1.DeleteOptions{}))
		}
	}
	close(done)
	readers.Wait()
}

// readLinkedDocuments reads the documents of custom resources in the index.
func (s openAPIServer) readLinkedDocuments() error {
	body, _, _, err := s.read("/openapi/v3")
	if err != nil {
		return err
	}
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(body, &index); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	for path, link := range index.Paths {
		if !strings.HasSuffix(path, ".example.com/v1") {
			continue
		}
		body, _, status, err := s.read(link.ServerRelativeURL)
		if err != nil {
			return err
		}
		if status == http.StatusOK && !json.Valid(body) || status != http.StatusOK && status != http.StatusNotFound {
			return fmt.Errorf("%s: status %d, %.100s", link.ServerRelativeURL, status, body)
		}
	}
	body, _, _, err = s.read("/openapi/v2")
	if err == nil && !json.Valid(body) {
		err = fmt.Errorf("version 2: %.100s", body)
	}
	return err
}

// Aggregated discovery has the group and version of custom kinds, but not of built-in kinds, as in
// kube-apiserver.
func TestAggregatedDiscoveryNamesCustomKinds(t *testing.T) {
	s := startOpenAPIServer(t)
	s.define(t, "Gadget")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/apis", nil)
	check(t, err)
	req.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	resp, err := s.http.Do(req)
	check(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	for _, want := range []string{
		`"responseKind":{"group":"gadget.example.com","version":"v1","kind":"Gadget"}`,
		`"responseKind":{"group":"","version":"","kind":"Deployment"}`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s", want)
		}
	}
}
