package layout_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/miniapi/miniapi"

// layers is the table of docs/design.md. The entry with the longest prefix of a package's path
// lists the packages it may import; packages below the same prefix may import each other.
// "x/..." means x and all packages below it.
var layers = map[string][]string{
	"versioner":             {},
	"storage":               {"versioner"},
	"storage/transform":     {},
	"storage/encryption":    {"internal/collectors", "storage/transform"},
	"storage/etcd":          {"internal/memory", "internal/tracing", "storage", "storage/transform", "versioner"},
	"storage/embedded":      {"internal/filelock", "internal/loopback", "internal/tempdir", "internal/zaplog"},
	"storage/memory":        {"storage", "versioner"},
	"storage/metered":       {"internal/tracing", "storage"},
	"storage/stale":         {"storage", "versioner"},
	"storage/watchcache":    {"internal/broadcast", "internal/collectors", "storage", "versioner"},
	"internal/apitime":      {},
	"internal/broadcast":    {},
	"internal/collectors":   {},
	"internal/configfile":   {},
	"internal/condition":    {"admission/expression"},
	"internal/zaplog":       {},
	"internal/kubeconfig":   {},
	"internal/filelock":     {},
	"internal/freeport":     {},
	"internal/loopback":     {},
	"internal/memory":       {},
	"internal/tracing":      {},
	"internal/kubelet":      {},
	"internal/outgoing":     {},
	"internal/process":      {},
	"internal/quota":        {"internal/resourcelist", "registry", "storage"},
	"internal/resourcelist": {},
	"internal/semantic":     {},
	"internal/stack":        {},
	"internal/suggest":      {},
	"internal/tempdir":      {"internal/filelock"},
	"internal/weakmap":      {},
	"internal/webhooks":     {"internal/loopback", "internal/outgoing", "registry"},
	"registry":              {"internal/semantic", "internal/tracing", "storage", "versioner"},
	"registry/informer":     {"registry", "storage"},
	"kinds":                 {"internal/resourcelist", "internal/semantic", "registry", "registry/fieldsv1", "storage"},
	"kinds/feature":         {},
	"crd":                   {"internal/outgoing", "internal/webhooks", "kinds/kind", "kinds/typed", "registry", "registry/informer", "storage", "versioner"},
	"internal/serviceip":    {"kinds/core", "kinds/kind", "registry", "storage", "versioner"},
	"internal/bootstrap":    {"internal/serviceip", "internal/suggest", "kinds/...", "registry", "storage", "storage/etcd"},
	"internal/heartbeat":    {"internal/apitime", "registry"},
	"internal/datastore":    {"internal/listener", "internal/memory", "registry", "storage/..."},
	"internal/listener":     {},
	"api":                   {"internal/memory", "internal/stack", "registry", "storage", "versioner"},
	"api/audit":             {"registry"},
	"api/request":           {"api/audit", "registry"},
	"api/fieldtree":         {},
	"api/flowcontrol":       {"api/request", "internal/collectors", "registry", "registry/informer", "storage"},
	"api/lifecycle":         {"api/request", "internal/broadcast"},
	"api/metrics":           {"api/request", "internal/collectors", "internal/memory", "registry"},
	"api/requestlog":        {"api/request", "versioner"},
	"api/filters":           {"api/audit", "api/encoding", "api/flowcontrol", "api/lifecycle", "api/metrics", "api/request", "api/requestlog", "internal/loopback", "internal/memory", "internal/stack", "internal/tracing", "registry"},
	"api/discovery":         {"api/encoding", "api/openapi", "internal/weakmap", "registry"},
	"api/healthz":           {},
	"api/encoding":          {"api/audit", "api/request", "internal/memory", "registry", "storage"},
	"api/openapi":           {"internal/weakmap", "registry"},
	"auth":                  {"internal/collectors", "internal/configfile", "internal/filelock", "internal/kubelet", "internal/outgoing", "internal/suggest", "kinds/feature", "registry", "registry/informer", "storage"},
	"admission":             {"internal/collectors", "internal/configfile", "internal/kubelet", "internal/outgoing", "internal/quota", "internal/resourcelist", "internal/suggest", "internal/webhooks", "kinds/feature", "kinds/podspec", "registry", "registry/informer", "storage"},
	"controllers":           {"internal/apitime", "internal/broadcast", "internal/collectors", "internal/quota", "internal/suggest", "kinds/flowcontrol", "registry", "storage", "versioner"},
	"aggregator":            {"internal/outgoing", "registry", "registry/informer", "storage"},
	"internal/manifests":    {},
	"ui":                    {},
	"testapi":               {"api/lifecycle", "api/request", "registry", "storage", "versioner"},
	"testapi/faults":        {"api/request", "kinds/kind", "registry", "storage", "storage/etcd", "storage/memory", "storage/stale", "testapi/schema", "versioner"},
	"testapi/schema":        {"kinds/typed"},
	"testapi/snapshots":     {"registry", "storage", "storage/memory", "testapi/schema"},
	"testapi/recording":     {"kinds", "testapi/conflicts"},
	"":                      {"admission/...", "aggregator", "api/...", "auth/...", "controllers", "controllers/reconcile", "crd", "internal/...", "kinds/...", "registry", "storage/...", "testapi/...", "ui"},
	"internal/host":         {"", "testapi/faults", "internal/bootstrap", "internal/filelock", "internal/kubeconfig", "internal/loopback", "internal/process", "internal/suggest", "internal/tempdir"},
	"cmd/miniapi":           {"", "testapi/activity", "testapi/conflicts", "testapi/faults", "controllers", "internal/host", "internal/kubeconfig", "internal/listener", "internal/loopback", "internal/memory", "internal/bootstrap", "internal/process", "internal/suggest", "internal/tempdir", "storage/embedded", "testapi/history", "testapi/recording", "ui"},
	"examples":              {""},
	// Only tests import these packages, so they may use an implementation.
	"internal/leaktest":     {},
	"internal/servertest":   {""},
	"storage/storagetest":   {"storage", "storage/transform", "versioner"},
	"registry/registrytest": {"registry", "storage/..."},
	"test/bench":            {},
	"test/clockserver":      {""},
	"test/conformance":      {},
	"test/integration":      {},
	"test/layout":           {},
}

func TestLayers(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		prefix, ok := layerOf(name)
		if !ok {
			t.Errorf("%s is in no layer", name)
			continue
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			imported = strings.TrimPrefix(imported, "/")
			if !ours || within(imported, prefix) && prefix != "" {
				continue
			}
			if !slices.ContainsFunc(layers[prefix], func(allowed string) bool { return allows(allowed, imported) }) {
				t.Errorf("%s may not import %s", name, imported)
			}
		}
	}
}

func TestStorageContractImportsNoEtcd(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		below := name == "storage" || name == "registry" || within(name, "api") || within(name, "kinds")
		for _, path := range p.Imports {
			if below && strings.HasPrefix(path, "go.etcd.io/etcd") {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
			if path == "k8s.io/kubernetes" || strings.HasPrefix(path, "k8s.io/kubernetes/") {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
	}
}

func layerOf(name string) (string, bool) {
	best, found := "", name == ""
	for prefix := range layers {
		if prefix != "" && within(name, prefix) && len(prefix) > len(best) {
			best, found = prefix, true
		}
	}
	return best, found
}

func allows(allowed, imported string) bool {
	if tree, ok := strings.CutSuffix(allowed, "/..."); ok {
		return within(imported, tree)
	}
	return allowed == imported
}

// within reports whether the package is the named one or below it. No package counts as below
// the root package.
func within(name, prefix string) bool {
	return name == prefix || prefix != "" && strings.HasPrefix(name, prefix+"/")
}

// repository is the root directory of the repository.
const repository = "../.."

type goPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	list.Dir = repository
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
