package e2e_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/auth/certs"
)

// TestEtcdWithAuthentication runs a server with an etcd that serves TLS, requires client
// certificates and has its authentication enabled.
func TestEtcdWithAuthentication(t *testing.T) {
	site := newSecuredEtcd(t)
	server := startMiniapi(t, site.flags(t, "miniapi"))
	clients := server.clientset(t)
	watching, err := clients.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{LabelSelector: "watched"})
	check(t, err)
	defer watching.Stop()
	config := newConfigMap("secured")
	config.Labels = map[string]string{"watched": "true"}
	config, err = clients.CoreV1().ConfigMaps(namespace).Create(t.Context(), config, metav1.CreateOptions{})
	check(t, err)
	if event := receive(t, watching.ResultChan()); event.Object.(*corev1.ConfigMap).Name != config.Name {
		t.Errorf("watched %v", event)
	}
	config.Data["n"] = "1"
	config, err = clients.CoreV1().ConfigMaps(namespace).Update(t.Context(), config, metav1.UpdateOptions{})
	check(t, err)
	createEvent(t, clients) // with a lease of etcd
	check(t, clients.CoreV1().ConfigMaps(namespace).Delete(t.Context(), config.Name, metav1.DeleteOptions{}))
	for _, path := range []string{"/readyz", "/livez"} {
		if body, err := clients.RESTClient().Get().AbsPath(path).DoRaw(t.Context()); err != nil {
			t.Errorf("%s: %v\n%s", path, err, body)
		}
	}

	for user, want := range map[string]string{
		"other": rpctypes.ErrorDesc(rpctypes.ErrGRPCPermissionDenied), // a user of etcd without the keys
		"":      "--etcd-certfile",                                    // no certificate
	} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(programsDir(t), "miniapi"), site.flags(t, user)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("as %q the server ends with %v: %s", user, err, out)
		}
	}
}

// createEvent creates an Event, which expires.
func createEvent(t *testing.T, clients kubernetes.Interface) {
	t.Helper()
	_, err := clients.CoreV1().Events(namespace).Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "secured", Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{Namespace: namespace},
	}, metav1.CreateOptions{})
	check(t, err)
}

// securedEtcd is an etcd with the users root, miniapi and other, who have certificates.
type securedEtcd struct {
	dir, url  string
	authority *certs.Authority
}

func newSecuredEtcd(t *testing.T) *securedEtcd {
	t.Helper()
	authority, err := certs.NewAuthority("etcd")
	check(t, err)
	addresses := freeAddresses(t, 2)
	s := &securedEtcd{dir: t.TempDir(), url: "https://" + addresses[0], authority: authority}
	check(t, os.WriteFile(s.file("ca.crt"), authority.CertificatePEM(), 0o600))
	serving, err := authority.IssueServing("127.0.0.1")
	check(t, err)
	s.write(t, "serving", serving)
	peer := "http://" + addresses[1]
	startEtcd(t, []string{
		"--name", "secured", "--data-dir", s.file("data"), "--log-level", "error",
		"--listen-client-urls", s.url, "--advertise-client-urls", s.url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "secured=" + peer,
		"--cert-file", s.file("serving.crt"), "--key-file", s.file("serving.key"),
		"--client-cert-auth", "--trusted-ca-file", s.file("ca.crt"),
	})
	s.enableAuthentication(t)
	return s
}

// enableAuthentication adds the users, of which miniapi may use the keys that
// docs/etcd-cluster.md names.
func (s *securedEtcd) enableAuthentication(t *testing.T) {
	t.Helper()
	pair, err := s.authority.IssueClient("root")
	check(t, err)
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	check(t, err)
	pool := x509.NewCertPool()
	s.authority.AddTo(pool)
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{s.url}, TLS: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}},
	})
	check(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, err := client.UserList(ctx); err != nil; _, err = client.UserList(ctx) { // until etcd has started
		check(t, ctx.Err())
		time.Sleep(10 * time.Millisecond)
	}
	for _, user := range []string{"root", "miniapi", "other"} {
		_, err := client.UserAddWithOptions(ctx, user, "", &clientv3.UserAddOptions{NoPassword: true})
		check(t, err)
		_, err = client.RoleAdd(ctx, user)
		check(t, err)
		_, err = client.UserGrantRole(ctx, user, user)
		check(t, err)
	}
	for key, end := range map[string]string{"/registry/": clientv3.GetPrefixRangeEnd("/registry/"), "compact_rev_key": ""} {
		_, err = client.RoleGrantPermission(ctx, "miniapi", key, end, clientv3.PermissionType(clientv3.PermReadWrite))
		check(t, err)
	}
	_, err = client.AuthEnable(ctx)
	check(t, err)
}

func (s *securedEtcd) file(name string) string { return filepath.Join(s.dir, name) }

func (s *securedEtcd) write(t *testing.T, name string, pair certs.Pair) {
	t.Helper()
	check(t, os.WriteFile(s.file(name+".crt"), pair.Certificate, 0o600))
	check(t, os.WriteFile(s.file(name+".key"), pair.Key, 0o600))
}

// flags returns the flags of a server that is a user of etcd, "" for none.
func (s *securedEtcd) flags(t *testing.T, user string) []string {
	t.Helper()
	flags := []string{
		"--listen", "127.0.0.1:0", "--write-kubeconfig", filepath.Join(t.TempDir(), "kubeconfig"),
		"--etcd-servers", s.url, "--etcd-cafile", s.file("ca.crt"),
	}
	if user == "" {
		return flags
	}
	pair, err := s.authority.IssueClient(user)
	check(t, err)
	s.write(t, user, pair)
	return append(flags, "--etcd-certfile", s.file(user+".crt"), "--etcd-keyfile", s.file(user+".key"))
}
