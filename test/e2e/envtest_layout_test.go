package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/miniapi/miniapi"
)

// writeAssets writes the assets to a directory and unsets the variables that envtest prefers to its
// options.
func writeAssets(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"assets", dir, "--kubectl", filepath.Join(programsDir(t), "kubectl")}, flags...)
	if out, err := exec.CommandContext(t.Context(), filepath.Join(programsDir(t), "miniapi"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("KUBEBUILDER_ASSETS", "") // restored after the test
	check(t, os.Unsetenv("KUBEBUILDER_ASSETS"))
	return dir
}

// servedVersion returns the version in the name of the layout.
func servedVersion() string {
	version, _, _ := strings.Cut(miniapi.KubernetesVersion().GitVersion, "+")
	return version
}

// checkEnvironment starts an environment, sends a request, and stops it.
func checkEnvironment(t *testing.T, env *envtest.Environment) {
	t.Helper()
	config, err := env.Start()
	check(t, err)
	if _, err := clientsetFor(t, config).CoreV1().ConfigMaps(namespace).Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	check(t, env.Stop())
}

// envtest downloads nothing if the directory has the version. The index cannot be reached.
func TestEnvtestDownloadsNothing(t *testing.T) {
	dir := filepath.Join(writeAssets(t), "k8s")
	env := &envtest.Environment{
		BinaryAssetsDirectory: dir, DownloadBinaryAssets: true, DownloadBinaryAssetsVersion: servedVersion(),
		DownloadBinaryAssetsIndexURL: "http://127.0.0.1:1/",
	}
	checkEnvironment(t, env)
	if path := env.ControlPlane.GetAPIServer().Path; !strings.HasPrefix(path, dir) {
		t.Errorf("kube-apiserver of %s", path)
	}
}

func TestEnvtestTakesTheAssetsDirectory(t *testing.T) {
	checkEnvironment(t, &envtest.Environment{BinaryAssetsDirectory: writeAssets(t)})
}

// cert-manager and others name each program by a variable.
func TestEnvtestTakesNamedAssets(t *testing.T) {
	dir := writeAssets(t)
	for name, program := range map[string]string{"KUBE_APISERVER": "kube-apiserver", "ETCD": "etcd", "KUBECTL": "kubectl"} {
		t.Setenv("TEST_ASSET_"+name, filepath.Join(dir, program))
	}
	checkEnvironment(t, &envtest.Environment{BinaryAssetsDirectory: "/nowhere"})
}

func buildSetupEnvtest(dir string) error {
	return build(dir, "setup-envtest", ".", "sigs.k8s.io/controller-runtime/tools/setup-envtest")
}

// setup-envtest lists the layout as installed and returns its directory.
func TestSetupEnvtestUsesTheAssets(t *testing.T) {
	tools := t.TempDir()
	check(t, buildSetupEnvtest(tools))
	dir := writeAssets(t, "--as-version", "1.31.0")
	if out, err := exec.CommandContext(t.Context(), filepath.Join(programsDir(t), "miniapi"), "assets", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	setup := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), filepath.Join(tools, "setup-envtest"), append(args, "--bin-dir", dir)...).CombinedOutput()
		if err != nil {
			t.Errorf("setup-envtest %s: %v: %s", args, err, out)
		}
		return string(out)
	}
	if list := setup("list", "-i"); !strings.Contains(list, "(installed)  "+servedVersion()) || !strings.Contains(list, "(installed)  v1.31.0") {
		t.Errorf("list:\n%s", list)
	}
	served := strings.TrimPrefix(servedVersion(), "v")
	for selector, version := range map[string]string{"1.31": "1.31.0", "1.31.x": "1.31.0", served: served} {
		path := filepath.Join(dir, "k8s", version+"-"+runtime.GOOS+"-"+runtime.GOARCH)
		if got := setup("use", "-i", "-p", "path", selector); got != path {
			t.Errorf("use %s: %s, want %s", selector, got, path)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", setup("use", "-i", "-p", "path"))
	checkEnvironment(t, &envtest.Environment{})
}
