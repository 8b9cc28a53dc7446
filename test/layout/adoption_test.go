package layout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// kubernetesModules are the modules that Kubernetes releases together, as go.mod requires them.
var kubernetesModules = regexp.MustCompile(`(?m)^\t(k8s\.io/(?:api|apimachinery|client-go|apiextensions-apiserver|apiserver|component-base)) (v\S+)`)

// TestAdoptionPinsKubernetes checks that miniapitest does not raise the versions of a project: each
// module in test/adoption that uses it has one version of Kubernetes, and together they have v0.29
// to v0.37. The go command refuses a go.mod whose versions a dependency raises.
func TestAdoptionPinsKubernetes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "test/adoption/*/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]bool{}
	for _, file := range files {
		mod, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(mod), "github.com/miniapi/miniapi/miniapitest ") {
			continue // it imports the server, which has versions of its own
		}
		versions := map[string]bool{}
		for _, required := range kubernetesModules.FindAllStringSubmatch(string(mod), -1) {
			versions[required[2]] = true
			pinned[required[2]] = true
		}
		if len(versions) != 1 {
			t.Errorf("%s has the versions %v of Kubernetes", file, versions)
		}
		if strings.Contains(string(mod), "k8s.io/apiserver ") {
			t.Errorf("%s requires k8s.io/apiserver, which no client needs", file)
		}
	}
	for _, release := range strings.Fields("29 30 31 32 33 34 35 36 37") {
		if !pinned["v0."+release+".0"] {
			t.Errorf("no module in test/adoption has Kubernetes v0.%s.0", release)
		}
	}
}
