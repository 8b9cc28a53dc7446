package e2e_test

import (
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// useAssets makes envtest start miniapi instead of its binaries.
func useAssets(t testing.TB) {
	t.Helper()
	programs := programsDir(t)
	assets := exec.CommandContext(t.Context(), filepath.Join(programs, "miniapi"),
		"assets", t.TempDir(), "--kubectl", filepath.Join(programs, "kubectl"))
	out, err := assets.Output()
	dir, found := strings.CutPrefix(strings.TrimSpace(string(out)), "export KUBEBUILDER_ASSETS=")
	if err != nil || !found {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	t.Setenv("HOME", t.TempDir()) // for the cache of kubectl
}

// TestEnvironment runs a suite without any reference to miniapi. It starts its environment a second
// time after a stop, which left nothing of the first start.
func TestEnvironment(t *testing.T) {
	useAssets(t)
	env := &envtest.Environment{}
	env.ControlPlane.GetAPIServer().Configure().Append("feature-gates", "CRIListStreaming=true").Append("disable-admission-plugins", "LimitRanger")
	for range 2 {
		config, err := env.Start()
		check(t, err)
		story := environmentStory{t, env, clientsetFor(t, config)}
		story.staleWriteConflicts()
		story.usersHaveTheirOwnRights()
		story.kubectlConnects()
		addresses := []string{env.ControlPlane.Etcd.URL.Host, env.ControlPlane.APIServer.SecureServing.HostPort()}
		check(t, env.Stop())
		for _, address := range addresses {
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Close()
				t.Errorf("a server still listens at %s", address)
			}
		}
	}
}

type environmentStory struct {
	t     *testing.T
	env   *envtest.Environment
	admin *kubernetes.Clientset
}

func (s environmentStory) staleWriteConflicts() {
	s.t.Helper()
	configMaps := s.admin.CoreV1().ConfigMaps(namespace)
	stale, err := configMaps.Create(s.t.Context(), newConfigMap("a"), metav1.CreateOptions{})
	check(s.t, err)
	latest := stale.DeepCopy()
	latest.Data = map[string]string{"n": "two"}
	_, err = configMaps.Update(s.t.Context(), latest, metav1.UpdateOptions{})
	check(s.t, err)
	if _, err = configMaps.Update(s.t.Context(), stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		s.t.Errorf("update of a stale copy: %v, want a conflict", err)
	}
}

func (s environmentStory) usersHaveTheirOwnRights() {
	s.t.Helper()
	user, err := s.env.AddUser(envtest.User{Name: "jane", Groups: []string{"developers"}}, nil)
	check(s.t, err)
	_, err = clientsetFor(s.t, user.Config()).CoreV1().ConfigMaps(namespace).List(s.t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "jane" cannot list`) {
		s.t.Errorf("a list without roles: %v, want it to be forbidden", err)
	}
}

func (s environmentStory) kubectlConnects() {
	s.t.Helper()
	stdout, stderr, err := s.env.ControlPlane.KubeCtl().Run("get", "configmap", "a", "-o", "jsonpath={.data.n}")
	out, _ := io.ReadAll(stdout)
	if said, _ := io.ReadAll(stderr); err != nil || string(out) != "two" {
		s.t.Errorf("kubectl: %v: %s%s", err, out, said)
	}
}

func clientsetFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(config)
	check(t, err)
	return clientset
}

// BenchmarkEnvironmentStart measures the start of an environment. It includes the generation of
// four key pairs, and envtest polls the readiness of each process every 100 ms.
func BenchmarkEnvironmentStart(b *testing.B) {
	useAssets(b)
	for b.Loop() {
		env := &envtest.Environment{}
		if _, err := env.Start(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := env.Stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
