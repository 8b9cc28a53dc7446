// Package noderestriction_test writes as nodes to a server with the admission plugin
// NodeRestriction.
package noderestriction_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a server with the objects of setup.
type env struct {
	*testing.T
	admin *kubernetes.Clientset
	uids  map[string]string // by kind and name
}

func start(t *testing.T, gates map[string]bool) *env {
	t.Helper()
	server := servertest.Start(t, miniapi.Config{
		Authorization: "Node,RBAC", EnableAdmissionPlugins: []string{"NodeRestriction"}, Controllers: []string{"-*"}, FeatureGates: gates,
	})
	return connect(t, server.RESTConfig())
}

// connect creates the objects of setup.
func connect(t *testing.T, config *rest.Config) *env {
	t.Helper()
	config.QPS = -1
	e := &env{T: t, admin: servertest.Client(t, config), uids: map[string]string{}}
	for path, objects := range setup() {
		for _, object := range objects {
			code, body := e.send(write{method: "POST", path: path, body: object})
			var created metav1.PartialObjectMetadata
			if err := json.Unmarshal(body, &created); err != nil || code != http.StatusCreated {
				t.Fatalf("POST %s: %d %s", path, code, body)
			}
			e.uids[created.Kind+" "+created.Name] = string(created.UID)
		}
	}
	return e
}

// write is a request. The text {Kind name} in its body stands for the UID of an object of setup.
type write struct {
	user         string // "": the administrator
	method, path string
	body         string // in YAML
}

var placeholder = regexp.MustCompile(`\{[A-Z]\w+ [a-z0-9-]+\}`)

// send sends a request and returns the code and the body of the response.
func (e *env) send(w write) (int, []byte) {
	e.Helper()
	body := placeholder.ReplaceAllStringFunc(w.body, func(text string) string { return e.uids[strings.Trim(text, "{}")] })
	data, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		e.Fatalf("%s: %v", body, err)
	}
	contentType := map[string]string{"PATCH": "application/merge-patch+json"}[w.method]
	if contentType == "" {
		contentType = "application/json"
	}
	request := e.admin.RESTClient().Verb(w.method).RequestURI(w.path).SetHeader("Content-Type", contentType).Body(data)
	if w.user != "" {
		request.SetHeader("Impersonate-User", w.user).SetHeader("Impersonate-Group", "system:nodes")
	}
	var code int
	result, _ := request.Do(e.Context()).StatusCode(&code).Raw()
	return code, result
}
