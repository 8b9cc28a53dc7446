package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestBanner(t *testing.T) {
	s := serve(t)
	lines := strings.Split(s.banner, "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines do not fit on a screen", len(lines))
	}
	for _, want := range []string{
		"  curl " + s.url + "/api/v1/namespaces",
		"  kubectl --kubeconfig " + s.kubeconfig + " get configmap hello -o yaml",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, s.banner)
		}
	}
	if body := get(t, s.url+"/api/v1/namespaces"); !strings.Contains(body, `"NamespaceList"`) {
		t.Errorf("the URL of the curl line returns %s", body)
	}
	check(t, s.stop(syscall.SIGINT))
	if s.stderr.Len() > 0 {
		t.Errorf("messages on standard error:\n%s", s.stderr)
	}
}

func TestKubeconfigOfAKilledServerIsRemovedByTheNext(t *testing.T) {
	killed := serve(t)
	check(t, killed.cmd.Process.Kill())
	_ = killed.wait()
	next := command(t, "--listen", "127.0.0.1:0")
	next.Env = killed.cmd.Env // the same home
	s := serveCommand(t, next)
	for deadline := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(killed.kubeconfig); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is left", killed.kubeconfig)
		}
	}
	if _, err := os.Stat(s.kubeconfig); err != nil {
		t.Errorf("the kubeconfig of the running server: %v", err)
	}
	check(t, s.stop(syscall.SIGTERM))
	if left, err := os.ReadDir(filepath.Dir(s.kubeconfig)); err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
}

func TestKubeconfig(t *testing.T) {
	named := filepath.Join(t.TempDir(), "kubeconfig")
	for name, tc := range map[string]struct {
		args []string
		kept bool
	}{
		"a file that the user chose is kept":  {[]string{"--write-kubeconfig", named}, true},
		"the default file is removed on exit": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, tc.args...)
			info, err := os.Stat(s.kubeconfig)
			check(t, err)
			if info.Mode() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			namespaces, err := s.clientset().CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			check(t, err)
			if len(namespaces.Items) != 4 {
				t.Errorf("%d namespaces", len(namespaces.Items))
			}
			check(t, s.stop(syscall.SIGTERM))
			if _, err := os.Stat(s.kubeconfig); (err == nil) != tc.kept {
				t.Errorf("after exit: %v", err)
			}
			left, err := os.ReadDir(filepath.Dir(s.kubeconfig))
			check(t, err)
			if rest := slices.DeleteFunc(left, func(e fs.DirEntry) bool { return tc.kept && e.Name() == "kubeconfig" }); len(rest) > 0 {
				t.Errorf("remaining files: %v", rest)
			}
		})
	}
}

// A failed write leaves no file, whole or partial.
func TestFailedKubeconfigWriteLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	failingRun(t, "--listen", "127.0.0.1:0", "--write-kubeconfig", filepath.Join(dir, "taken"))
	left, err := os.ReadDir(dir)
	check(t, err)
	if len(left) != 1 {
		t.Errorf("remaining files: %v", left)
	}
}

func TestSignalsStopTheServer(t *testing.T) {
	// Under nohup the server would inherit that SIGHUP is ignored.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			s := serve(t)
			var watches []*http.Response
			for range 10 {
				resp, err := http.Get(s.url + "/api/v1/configmaps?watch=true")
				check(t, err)
				defer resp.Body.Close()
				watches = append(watches, resp)
			}
			start := time.Now()
			if err := s.stop(signal); err != nil {
				t.Errorf("exit: %v", err)
			}
			t.Logf("stopped after %v", time.Since(start))
			for _, watch := range watches {
				if rest, err := io.ReadAll(watch.Body); err != nil || len(rest) > 0 {
					t.Errorf("a watch ended with %q, %v", rest, err)
				}
			}
			if s.stderr.Len() > 0 {
				t.Errorf("messages on standard error:\n%s", s.stderr)
			}
		})
	}
}

func TestTemporaryDataIsRemoved(t *testing.T) {
	cmd := command(t, "--listen", "127.0.0.1:0")
	temp := t.TempDir()
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	s := serveCommand(t, cmd)
	check(t, s.stop(syscall.SIGTERM))
	left, err := os.ReadDir(temp)
	check(t, err)
	if len(left) > 0 {
		t.Errorf("remaining files: %v", left)
	}
}

func TestTemporaryDataOfKilledServersIsRemoved(t *testing.T) {
	temp := t.TempDir()
	start := func() *server {
		cmd := command(t, "--listen", "127.0.0.1:0")
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		return serveCommand(t, cmd)
	}
	running, killed := start(), start()
	if err := killed.stop(syscall.SIGKILL); err == nil {
		t.Error("exit code 0")
	}
	directories := func() int {
		t.Helper()
		entries, err := os.ReadDir(temp)
		check(t, err)
		return len(entries)
	}
	if got := directories(); got != 2 {
		t.Errorf("%d directories after the kill, want 2", got)
	}
	next := start()
	for deadline := time.Now().Add(timeout); directories() > 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the directory of the killed server remains")
		}
	}
	get(t, running.url+"/api/v1/namespaces/default")
	check(t, running.stop(syscall.SIGTERM))
	check(t, next.stop(syscall.SIGTERM))
	if got := directories(); got != 0 {
		t.Errorf("%d directories after the end of all servers", got)
	}
}

func TestDataDirKeepsObjectsAndVersions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var before *corev1.ConfigMapList
	for i, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		s := serve(t, "--data-dir", dir)
		configMaps := s.clientset().CoreV1().ConfigMaps("default")
		after, err := configMaps.List(t.Context(), metav1.ListOptions{})
		check(t, err)
		if before != nil && !cmp.Equal(before.Items, after.Items) {
			t.Errorf("after restart %d:\n%s", i, cmp.Diff(before.Items, after.Items))
		}
		_, err = configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("round-", i)}}, metav1.CreateOptions{})
		check(t, err)
		before, err = configMaps.List(t.Context(), metav1.ListOptions{})
		check(t, err)
		if err := s.stop(signal); (err != nil) != (signal == syscall.SIGKILL) {
			t.Errorf("%v: exit: %v", signal, err)
		}
		if s.stderr.Len() > 0 {
			t.Errorf("messages on standard error:\n%s", s.stderr)
		}
	}
}

// A failure of the embedded etcd ends miniapi with an error line.
func TestFailureOfEtcdEndsTheServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data-dir", dir)
	check(t, os.RemoveAll(dir))
	large := fmt.Sprintf(`{"metadata":{"generateName":"a"},"data":{"a":%q}}`, strings.Repeat("x", 1<<19))
	for {
		resp, err := http.Post(s.url+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(large))
		if err != nil {
			break
		}
		check(t, resp.Body.Close())
	}
	if err := s.wait(); err == nil {
		t.Error("exit code 0")
	}
	if !strings.Contains(s.stderr.String(), "\nminiapi: embedded etcd gave up: ") {
		t.Errorf("standard error: %s", s.stderr)
	}
}

// The server uses the keys of kube-apiserver in etcd.
func TestEtcdListenClientURL(t *testing.T) {
	s := serve(t, "--etcd-listen-client-url", "http://127.0.0.1:0")
	_, line, found := strings.Cut(s.banner, "--endpoints ")
	if !found {
		t.Fatalf("no endpoints in\n%s", s.banner)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Fields(line)[:1], Logger: zap.NewNop()})
	check(t, err)
	defer client.Close()
	_, err = s.clientset().CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	check(t, err)
	resp, err := client.Get(t.Context(), "/registry/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	check(t, err)
	var keys []string
	for _, kv := range resp.Kvs {
		keys = append(keys, string(kv.Key))
	}
	for _, want := range []string{"/registry/configmaps/default/a", "/registry/namespaces/kube-system", "/registry/services/specs/default/kubernetes"} {
		if !slices.Contains(keys, want) {
			t.Errorf("no key %s among %q", want, keys)
		}
	}
}

func TestVerbosity(t *testing.T) {
	for _, tc := range []struct {
		args           []string
		requests, etcd bool
	}{
		{[]string{"-v", "0"}, false, false},
		{[]string{"-v", "0", "--log-requests"}, true, false},
		{[]string{"-v", "2"}, false, false},
		{[]string{"-v", "3"}, true, false},
		{[]string{"-v", "6"}, true, false},
		{[]string{"-v", "7"}, true, true},
	} {
		s := serve(t, tc.args...)
		get(t, s.url+"/api")
		check(t, s.stop(syscall.SIGTERM))
		if got := strings.Contains(s.stderr.String(), "level=INFO msg=request verb=get code=200 "); got != tc.requests {
			t.Errorf("%s: requests %v:\n%s", tc.args, got, s.stderr)
		}
		if got := strings.Contains(s.stderr.String(), "component=etcd"); got != tc.etcd {
			t.Errorf("%s: records of etcd %v:\n%s", tc.args, got, s.stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	out, err := command(t, "--help").Output()
	check(t, err)
	golden := filepath.Join("testdata", "help.txt")
	want, err := os.ReadFile(golden)
	check(t, err)
	if diff := cmp.Diff(string(want), string(out)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		if len(lines.Text()) > 100 {
			t.Errorf("wider than 100 columns: %s", lines.Text())
		}
	}
}

func TestVersion(t *testing.T) {
	out, err := command(t, "--version").Output()
	check(t, err)
	if !strings.HasPrefix(string(out), "miniapi version ") || !strings.Contains(string(out), "(Kubernetes API v1.") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("got %q", out)
	}
}

// BenchmarkStart measures the time from the start of the process until /readyz returns 200.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		cmd := exec.Command(program, "--listen", "127.0.0.1:0", "--write-kubeconfig", filepath.Join(b.TempDir(), "kubeconfig"))
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if words := strings.Fields(lines.Text()); len(words) == 2 && words[0] == "URL" {
				resp, err := http.Get(words[1] + "/readyz")
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatal(resp, err)
				}
				resp.Body.Close()
				break
			}
		}
		b.StopTimer()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		b.StartTimer()
	}
}

func (s *server) clientset() *kubernetes.Clientset {
	s.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	check(s.t, err)
	clientset, err := kubernetes.NewForConfig(config)
	check(s.t, err)
	return clientset
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	check(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	return string(body)
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		out, err := command(t, "completion", shell).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "miniapi") {
			t.Errorf("%s: %v: %.200s", shell, err, out)
		}
	}
	help, err := command(t, "completion", "bash", "--help").CombinedOutput()
	if err != nil || strings.Contains(string(help), "--listen") {
		t.Errorf("help has the flags of another command: %v: %s", err, help)
	}
}
