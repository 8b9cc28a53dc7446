package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniapi/miniapi"
)

const recordedStory = `kubectl create configmap settings --from-literal a=b
kubectl label configmap settings x=y
kubectl get configmap settings -o yaml >settings.yaml
sed 's/a: b/a: c/' settings.yaml | kubectl replace -f -
kubectl wait --for=jsonpath='{.data.a}'=c configmap/settings --timeout=5m
kubectl replace -f settings.yaml && exit 1 || true
kubectl create secret generic login --from-literal password=hunter2 -o yaml --dry-run=client | kubectl apply -f -
kubectl create service nodeport web --tcp=80
kubectl get configmaps,services,secrets
kubectl delete configmap settings
`

// TestRecordAndReplayKubectl records kubectl and replays the recording to another server.
func TestRecordAndReplayKubectl(t *testing.T) {
	t.Parallel()
	server, err := miniapi.Start(t.Context(), miniapi.Config{})
	check(t, err)
	t.Cleanup(func() { check(t, server.Stop(context.Background())) })
	sh := newShell(t, server)
	check(t, os.WriteFile(filepath.Join(sh.dir, "story.sh"), []byte(recordedStory), 0o600))
	if out, err := sh.run("KUBECONFIG= miniapi record golden.yaml -- sh -eu story.sh"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	golden, err := os.ReadFile(filepath.Join(sh.dir, "golden.yaml"))
	check(t, err)
	if strings.Contains(string(golden), "hunter2") || !strings.Contains(string(golden), "password: <secret-1>") {
		t.Errorf("the password is recorded:\n%s", golden)
	}
	changed := strings.Replace(string(golden), "\ncode: 409\n", "\ncode: 200\n", 1)
	check(t, os.WriteFile(filepath.Join(sh.dir, "changed.yaml"), []byte(changed), 0o600))
	if out, err := sh.run("miniapi replay golden.yaml"); err != nil || !strings.HasPrefix(out, "0 of ") {
		t.Errorf("%v: %s", err, out)
	}
	out, err := sh.run("KUBECONFIG= miniapi run -- miniapi replay changed.yaml")
	if err == nil || !strings.Contains(out, "\n-code: 200\n+code: 409\n") || !strings.Contains(out, "\n1 of ") {
		t.Errorf("%v: %s", err, out)
	}
}
