package controlplane

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// snapshot prints the resourceVersions of all objects except reports of the time: leases,
// nodes and Events.
const snapshot = `kubectl get --all-namespaces "$(kubectl api-resources --verbs list --output name |
  grep --invert-match --extended-regexp '^(leases|nodes|events|componentstatuses)' | paste --serial --delimiters ,)" \
  --output jsonpath='{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}'`

// quiet is the time without a write after which the controllers are at rest.
const quiet = 5 * time.Second

// The built-in controllers and kube-controller-manager, both in charge of namespaces and garbage
// collection, come to the same result as one of them, and then to rest.
func TestBothControllers(t *testing.T) {
	c := newCluster(t, "--controllers=-*", "--controllers=*")
	c.startNodes()
	c.startProgram("sample-apiserver")
	c.mustRun(t, c.page.flunders)
	for _, name := range []string{"collection", "namespace"} {
		t.Run(name, func(t *testing.T) { c.runCase(t, name) })
	}
	t.Run("aggregated objects", func(t *testing.T) { c.deleteFlunders(t) })
	t.Run("many objects", func(t *testing.T) {
		c.mustRun(t, `kubectl create namespace many
for i in $(seq 300); do
  echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: m$i, namespace: many}}"
  echo ---
done | kubectl create -f - >/dev/null
kubectl delete namespace many --timeout 90s`)
	})
	t.Run("rest", func(t *testing.T) {
		var before, after string
		err := wait.PollUntilContextTimeout(t.Context(), quiet, patience, false, func(context.Context) (bool, error) {
			before, after = after, c.mustRun(t, snapshot)
			return before == after, nil
		})
		if err != nil {
			t.Errorf("objects are still written:\n%s", differentLines(before, after))
		}
	})
	for _, name := range []string{"miniapi", "kube-controller-manager"} {
		c.processes[name].stop(syscall.SIGTERM)
		t.Logf("CPU of %s: %v", name, c.processes[name].cpu())
	}
}

// differentLines returns the lines of a text that another one does not have.
func differentLines(before, after string) string {
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		known[line] = true
	}
	var different strings.Builder
	for line := range strings.Lines(after) {
		if !known[line] {
			different.WriteString(line)
		}
	}
	return different.String()
}

// The built-in controllers alone delete the objects of an aggregated API with their namespace.
func TestBuiltInControllers(t *testing.T) {
	c := newCluster(t, "--controllers=-*", "--controllers=*")
	c.startProgram("sample-apiserver")
	c.mustRun(t, c.page.flunders)
	c.deleteFlunders(t)
}
