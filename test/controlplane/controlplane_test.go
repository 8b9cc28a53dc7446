package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestControlPlane runs the commands of the page, and then the scripts of testdata/cases at the
// same time, each in a namespace of its own.
func TestControlPlane(t *testing.T) {
	c := newCluster(t, "", "")
	c.startNodes()
	files, err := filepath.Glob("testdata/cases/*.sh")
	check(t, err)
	t.Run("cases", func(t *testing.T) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".sh")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c.runCase(t, name)
			})
		}
	})
	t.Run("aggregation", func(t *testing.T) { aggregation(t, c) })
	t.Run("restart", func(t *testing.T) { restart(t, c) })
	for name, p := range c.processes {
		if !p.running() {
			t.Errorf("%s has ended", name)
		}
	}
	c.processes["miniapi"].stop(syscall.SIGTERM)
	t.Logf("CPU of the server since its restart: %v", c.processes["miniapi"].cpu())
}

// runCase runs a script of testdata/cases in a namespace and a folder of its own. The folder has a
// key and a request for a certificate of the user developer.
func (c *cluster) runCase(t *testing.T, name string) {
	t.Helper()
	dir, script := t.TempDir(), ""
	for _, file := range []string{"testdata/prelude.sh", "testdata/cases/" + name + ".sh"} {
		text, err := os.ReadFile(file)
		check(t, err)
		script += string(text)
	}
	namespace := "case-" + name
	c.mustRun(t, "kubectl create namespace "+namespace)
	kubeconfig, err := os.ReadFile(filepath.Join(c.dir, "admin.kubeconfig"))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "admin.kubeconfig"), kubeconfig, 0o600))
	writeRequest(t, dir)
	output, err := c.script(t, dir, "kubectl config set-context --current --namespace "+namespace+"\n"+script, "NAMESPACE="+namespace)
	if err != nil {
		state, _ := c.script(t, dir, "kubectl get all,events --namespace "+namespace)
		t.Errorf("%v\n%s\n%s", err, output, state)
	}
}

func writeRequest(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "developer"}}, key)
	check(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	for file, block := range map[string]*pem.Block{
		"client.csr": {Type: "CERTIFICATE REQUEST", Bytes: request}, "client.key": {Type: "PRIVATE KEY", Bytes: encoded},
	} {
		check(t, os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600))
	}
}

// restart kills the server in the middle of a rollout. The rollout ends, the leaders stay, and
// tokens issued before are valid.
func restart(t *testing.T, c *cluster) {
	const holders = `kubectl --namespace kube-system get lease kube-controller-manager kube-scheduler --output jsonpath='{.items[*].spec.holderIdentity}'`
	before, token := c.mustRun(t, holders), c.mustRun(t, "kubectl create token default")
	c.mustRun(t, "kubectl set image deployment web nginx=nginx:2")
	c.processes["miniapi"].stop(syscall.SIGKILL)
	c.startServer()
	c.mustRun(t, "kubectl rollout status deployment web --timeout 120s")
	c.mustRun(t, "kubectl scale deployment web --replicas 5 && kubectl rollout status deployment web --timeout 120s")
	if after := c.mustRun(t, holders); after != before {
		t.Errorf("the leaders changed from %s to %s", before, after)
	}
	if user := c.mustRun(t, "kubectl config set-credentials robot --token "+token+" >/dev/null && kubectl --user robot auth whoami"); !strings.Contains(user, "system:serviceaccount:default:default") {
		t.Errorf("the user of the token is\n%s", user)
	}
}

// aggregation runs sample-apiserver as on the page. The objects of its API are deleted with their
// namespace.
func aggregation(t *testing.T, c *cluster) {
	c.startProgram("sample-apiserver")
	c.mustRun(t, c.page.flunders)
	c.deleteFlunders(t)
}

// deleteFlunders deletes a namespace with objects of the aggregated API, and checks that these are
// deleted too.
func (c *cluster) deleteFlunders(t *testing.T) {
	t.Helper()
	c.mustRun(t, `kubectl create namespace flunders
for name in one two; do
  kubectl apply -f - <<EOF
apiVersion: wardle.example.com/v1alpha1
kind: Flunder
metadata: {name: $name, namespace: flunders}
EOF
done
kubectl delete namespace flunders --timeout 90s
test -z "$(kubectl --namespace flunders get flunders --output name)"`)
}
