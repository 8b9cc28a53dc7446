package layout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/kinds/feature"
)

// TestSupportMatrix checks that docs/support.md names the versions that are tested.
func TestSupportMatrix(t *testing.T) {
	matrix := read(t, "docs/support.md")
	mentioned := func(row, version string) {
		t.Helper()
		for line := range strings.Lines(matrix) {
			if strings.HasPrefix(line, "| "+row) && strings.Contains(line, version) {
				return
			}
		}
		t.Errorf("no row %q of docs/support.md has %s", row, version)
	}
	find := func(path, pattern string) string {
		t.Helper()
		match := regexp.MustCompile(pattern).FindStringSubmatch(read(t, path))
		if match == nil {
			t.Fatalf("%s does not match %s", path, pattern)
		}
		return match[1]
	}
	mentioned("API that is served", "v"+feature.Latest.String())
	mentioned("API that is served", "v"+feature.Oldest.String())
	for _, recorded := range regexp.MustCompile(`v1\.\d+\.\d+`).FindAllString(read(t, "test/conformance/doc.go"), -1) {
		mentioned("API that is served", recorded)
	}
	mentioned("embedded", find("go.mod", `go.etcd.io/etcd/server/v3 (v\S+)`))
	mentioned("`github.com/miniapi/miniapi` |", find("go.mod", `(?m)^go (\d+\.\d+)`))
	mentioned("`github.com/miniapi/miniapi/miniapitest` |", find("miniapitest/go.mod", `(?m)^go (\d+\.\d+)`))
	mentioned("client-go with", find("miniapitest/go.mod", `k8s.io/client-go (v\d+\.\d+)`))
	mentioned("kubectl", "v"+find("Makefile", `KUBECTLS := .*?(\d+\.\d+)\.\d+\n`))
	mentioned("kubectl", "v1."+find("test/e2e/go.mod", `k8s.io/kubectl v0\.(\d+)`))
	for _, release := range []string{"v1.36", "v1.37"} {
		pins := "test/controlplane/" + release + "/go.mod"
		mentioned("kube-controller-manager", find(pins, `k8s.io/kubernetes (v\S+)`))
		mentioned("kwok", find(pins, `sigs.k8s.io/kwok (v\S+)`))
		mentioned("kwok", find(pins, `k8s.io/sample-apiserver (v\S+)`))
	}
	modules, err := os.ReadDir(filepath.Join(repository, "test/adoption"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("no modules in test/adoption: %v", err)
	}
	for _, module := range modules {
		if _, version, ok := strings.Cut(module.Name(), "-v0."); ok {
			mentioned("", "v0."+version)
		}
	}
}
