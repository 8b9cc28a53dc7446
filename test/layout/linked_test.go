package layout_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// unlinked lists packages that cmd/miniapi must not link, with the reason. An entry includes the
// packages below it.
var unlinked = map[string]string{
	"k8s.io/kubernetes":                            "it is not a library",
	"k8s.io/client-go/kubernetes":                  "a client for each kind; use client-go/rest or client-go/dynamic",
	"k8s.io/client-go/informers":                   "an informer for each kind; use registry/informer",
	"k8s.io/client-go/listers":                     "a lister for each kind; use registry/informer",
	"k8s.io/client-go/applyconfigurations":         "a second form of each type; use unstructured objects",
	"k8s.io/client-go/tools/cache":                 "the informers of client-go; use registry/informer",
	"k8s.io/client-go/discovery":                   "a client for the documents that the registry has",
	"k8s.io/client-go/openapi":                     "it links kube-openapi/pkg/handler3",
	"k8s.io/apiextensions-apiserver/pkg/client":    "a client and informers; use registry/informer",
	"k8s.io/kube-aggregator/pkg/client":            "a client and informers; use registry/informer",
	"k8s.io/kube-aggregator/pkg/apiserver":         "it links k8s.io/apiserver/pkg/server; use aggregator",
	"k8s.io/pod-security-admission/admission":      "it links client-go/kubernetes; use its packages api and policy",
	"k8s.io/apiserver/pkg/server":                  "the framework of kube-apiserver; use api",
	"k8s.io/apiserver/pkg/storage":                 "the storage of kube-apiserver; use storage",
	"k8s.io/apiserver/pkg/registry":                "the registry of kube-apiserver; use registry",
	"k8s.io/apiserver/pkg/admission/plugin/policy": "it links client-go/openapi; use admission/policy",
	"k8s.io/kube-openapi/pkg/builder":              "it links go-restful; use api/openapi",
	"k8s.io/kube-openapi/pkg/builder3":             "it links go-restful; use api/openapi",
	"k8s.io/kube-openapi/pkg/handler":              "it links go-restful; use api/openapi",
	"k8s.io/kube-openapi/pkg/handler3":             "it links go-restful; use api/openapi",
	"github.com/emicklei/go-restful":               "a second router; use chi",
	"go.etcd.io/etcd/server/v3/embed":              "the configuration and HTTP gateway of etcd; use etcdserver",
	"debug/buildinfo":                              "parsers of all executable formats",
	"testing":                                      "only tests use it",
}

// linkedAnyway lists the exceptions: the validation of CustomResourceDefinitions links the
// first tree, and storage/encryption the ciphers.
var linkedAnyway = []string{
	"k8s.io/apiserver/pkg/server/egressselector",
	"k8s.io/apiserver/pkg/storage/value",
}

// unlinkedTests lists packages that miniapitest must not link, with the reason: every test binary
// of a user would contain them. An entry includes the packages below it.
var unlinkedTests = map[string]string{
	module + "/api":                        "the server is a process of its own",
	"go.etcd.io/etcd":                      "the server is a process of its own",
	"google.golang.org/grpc":               "only the server uses it",
	"github.com/prometheus":                "only the server has metrics",
	"go.opentelemetry.io/otel":             "only the server has traces",
	"k8s.io/api":                           "the types of all kinds; use the JSON of an object",
	"k8s.io/apiserver":                     "the framework of kube-apiserver",
	"k8s.io/client-go/kubernetes":          "a client for each kind; use client-go/rest",
	"k8s.io/client-go/applyconfigurations": "a second form of each type",
	"k8s.io/client-go/tools/cache":         "informers; use the control API",
}

// TestLinkedPackages checks which packages cmd/miniapi links. docs/decisions.md lists their cost.
func TestLinkedPackages(t *testing.T) {
	for _, name := range listLinked(t, repository, "./cmd/miniapi") {
		for tree, reason := range unlinked {
			if within(name, tree) && !slices.ContainsFunc(linkedAnyway, func(tree string) bool { return within(name, tree) }) {
				t.Errorf("cmd/miniapi links %s: %s", name, reason)
			}
		}
	}
}

// TestLinkedPackagesOfTests checks which packages a test links that imports miniapitest.
func TestLinkedPackagesOfTests(t *testing.T) {
	for _, name := range listLinked(t, repository+"/miniapitest", ".") {
		for tree, reason := range unlinkedTests {
			if within(name, tree) {
				t.Errorf("miniapitest links %s: %s", name, reason)
			}
		}
	}
}

// listLinked returns the import paths of a package and of all packages that it links.
func listLinked(t *testing.T, dir, name string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", name)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 100 {
		t.Fatalf("go list printed %d packages", len(linked))
	}
	return linked
}
