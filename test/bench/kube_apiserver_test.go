package bench

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// startKubeAPIServer starts the programs of a directory, and returns when the server is ready.
// Limits of concurrent requests would be what a benchmark measures, so they are raised.
func startKubeAPIServer(b *testing.B, dir string) *subject {
	b.Helper()
	work := b.TempDir()
	tokens, key := filepath.Join(work, "tokens.csv"), filepath.Join(work, "sa.key")
	if err := os.WriteFile(tokens, []byte(`token,admin,admin,"system:masters"`), 0o600); err != nil {
		b.Fatal(err)
	}
	writeKey(b, key)
	client, peer, secure := freePort(b), freePort(b), freePort(b)
	etcd := "http://127.0.0.1:" + client
	s := &subject{name: "kube-apiserver", address: address{URL: "https://127.0.0.1:" + secure, Token: "token", Etcd: etcd}}
	s.run(b, dir, "etcd", "--data-dir", filepath.Join(work, "data"), "--unsafe-no-fsync",
		"--listen-client-urls", etcd, "--advertise-client-urls", etcd, "--listen-peer-urls", "http://127.0.0.1:"+peer)
	s.run(b, dir, "kube-apiserver", "--etcd-servers", etcd, "--cert-dir", filepath.Join(work, "certs"),
		"--secure-port", secure, "--bind-address", "127.0.0.1", "--service-cluster-ip-range", "10.0.0.0/24",
		"--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount",
		"--service-account-issuer", "https://127.0.0.1/", "--service-account-key-file", key,
		"--service-account-signing-key-file", key, "--token-auth-file", tokens,
		"--max-requests-inflight", "3000", "--max-mutating-requests-inflight", "1000", "--enable-priority-and-fairness=false")
	s = connect(b, s)
	for began := time.Now(); s.request(http.MethodGet, "/readyz", nil) != nil; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			b.Fatalf("kube-apiserver of %s is not ready after a minute", dir)
		}
	}
	return s
}

// run starts a program that ends with the benchmark.
func (s *subject) run(b *testing.B, dir, program string, args ...string) {
	b.Helper()
	process := exec.Command(filepath.Join(dir, program), args...)
	if err := process.Start(); err != nil {
		b.Fatalf("%v: %s must name a directory with etcd and kube-apiserver", err, kubeAPIServerEnv)
	}
	s.processes = append(s.processes, process.Process.Pid)
	b.Cleanup(func() {
		kill := time.AfterFunc(20*time.Second, func() { _ = process.Process.Kill() })
		defer kill.Stop()
		_ = process.Process.Signal(syscall.SIGTERM)
		_ = process.Wait()
	})
}

// writeKey creates the key of service account tokens.
func writeKey(b *testing.B, file string) {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		b.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
}

func freePort(b *testing.B) string {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
}
