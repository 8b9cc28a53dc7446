package main_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// as returns miniapi called by another name.
func as(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	cmd.Args[0] = name
	return cmd
}

// This is how envtest finds out what it may pass.
func TestHelpNamesFlagsAtTheStartOfALine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ has, hasNot string }{
		"etcd":                         {"unsafe-no-fsync", "nope"},
		"/some/where/etcd.exe":         {"unsafe-no-fsync", "nope"},
		"kube-apiserver":               {"secure-port", "insecure-port"},
		"/some/where/kube-apiserver":   {"etcd-servers", "data-dir"},
		"/some/where/kubectl-nor-etcd": {"listen", "unsafe-no-fsync"},
	} {
		out, err := as(t, name, "--help").CombinedOutput()
		check(t, err)
		has := func(flag string) bool { return regexp.MustCompile(`(?m)^\s*--` + flag + `\b`).Match(out) }
		if !has(want.has) || has(want.hasNot) {
			t.Errorf("%s has %s: %v, has %s: %v:\n%s", name, want.has, has(want.has), want.hasNot, has(want.hasNot), out)
		}
	}
}

func TestVersionOfStandIns(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"etcd":           `^etcd Version: 3\.\d+\.\d+\nGit SHA: .+\nGo Version: go1\..+\nGo OS/Arch: ` + runtime.GOOS + "/" + runtime.GOARCH + "\n$",
		"kube-apiserver": `^Kubernetes v1\.\d+\.\d+\S*\n$`,
	} {
		out, err := as(t, name, "--version").Output()
		check(t, err)
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s: %q", name, out)
		}
	}
}

func TestFaultsOfStandIns(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer busy.Close()
	for want, args := range map[string][]string{
		"etcd: unexpected argument \"start\": etcd takes flags only":       {"etcd", "start"},
		"etcd: start embedded etcd: client URL \"http://0.0.0.0:2379\": m": {"etcd", "-listen-client-urls", "http://0.0.0.0:2379"},
		"etcd: invalid argument \"x\" for \"--quota-backend-bytes\" flag":  {"etcd", "--quota-backend-bytes=x"},
		"kube-apiserver: --etcd-servers is not set: it says where etcd is": {"kube-apiserver"},
		"choose another with --secure-port 0":                              {"kube-apiserver", "--etcd-servers=http://127.0.0.1:1", "--bind-address=127.0.0.1", "--secure-port=" + portOf(busy.Addr().String())},
	} {
		out, err := as(t, args[0], args[1:]...).CombinedOutput()
		if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v, want one line with %s:\n%s", args, err, want, out)
		}
	}
}

// running is a stand-in that runs.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
	end    func() error // waits, once
}

// runStandIn starts a stand-in and waits until a URL of it answers with 200.
func runStandIn(t *testing.T, url string, cmd *exec.Cmd) *running {
	t.Helper()
	s := &running{t: t, cmd: cmd, url: url[:strings.LastIndex(url, "/")], stderr: &bytes.Buffer{}}
	cmd.Stdout, cmd.Stderr = s.stderr, s.stderr
	check(t, cmd.Start())
	s.end = sync.OnceValue(cmd.Wait)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // in case it still runs
		_ = s.end()
	})
	awaitAnswer(t, url)
	return s
}

// awaitAnswer asks as envtest does.
func awaitAnswer(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		check(t, err)
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not answer", url)
		case <-ticker.C:
		}
	}
}

func (s *running) stop(signal syscall.Signal) {
	s.t.Helper()
	check(s.t, s.cmd.Process.Signal(signal))
	if err := s.end(); (err != nil) != (signal == syscall.SIGKILL) {
		s.t.Errorf("%s ended with %v:\n%s", s.cmd.Args[0], err, s.stderr)
	}
}

func runEtcd(t *testing.T, args ...string) *running {
	t.Helper()
	url := "http://" + freeAddress(t)
	return runStandIn(t, url+"/health", as(t, "etcd", append([]string{
		"--advertise-client-urls=" + url, "--listen-client-urls=" + url, "--listen-peer-urls=http://localhost:0",
		"--data-dir=" + filepath.Join(t.TempDir(), "data"), "--unsafe-no-fsync=true",
	}, args...)...))
}

func runKubeAPIServer(t *testing.T, etcd *running, args ...string) (*running, *kubernetes.Clientset) {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	check(t, os.WriteFile(tokens, []byte("secret,jane,u1,system:masters\n"), 0o600))
	address := freeAddress(t)
	s := runStandIn(t, "https://"+address+"/healthz", as(t, "kube-apiserver", append([]string{
		"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--secure-port=" + portOf(address), "--cert-dir=" + dir,
		"--disable-admission-plugins=ServiceAccount", "--etcd-servers=" + etcd.url, "--service-account-issuer=https://" + address + "/",
		"--service-cluster-ip-range=10.0.0.0/24", "--token-auth-file=" + tokens,
	}, args...)...))
	clientset, err := kubernetes.NewForConfig(&rest.Config{
		Host: s.url, BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, "apiserver.crt")},
	})
	check(t, err)
	return s, clientset
}

func TestControlPlane(t *testing.T) {
	t.Parallel()
	etcd := runEtcd(t)
	server, clientset := runKubeAPIServer(t, etcd)
	if _, err := clientset.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	watch, err := clientset.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	_, err = clientset.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	check(t, err)
	if event := <-watch.ResultChan(); event.Object.(*corev1.ConfigMap).Name != "a" {
		t.Errorf("watched %v", event)
	}
	server.stop(syscall.SIGTERM)
	if event, open := <-watch.ResultChan(); open {
		t.Errorf("the watch ended with %v", event)
	}
	etcd.stop(syscall.SIGTERM)
	if said := etcd.stderr.String() + server.stderr.String(); said != "" {
		t.Errorf("there was something to complain about:\n%s", said)
	}
}

func TestEndsWithoutItsEtcd(t *testing.T) {
	t.Parallel()
	etcd := runEtcd(t)
	server, clientset := runKubeAPIServer(t, etcd)
	watch, err := clientset.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer watch.Stop()
	etcd.stop(syscall.SIGKILL)
	server.stop(syscall.SIGTERM)
}

func TestUnknownFlagsAreOneWarning(t *testing.T) {
	t.Parallel()
	etcd := runEtcd(t, "-name", "one", "--experimental-x", "--max-request-bytes", "99", "--name", "two", "-snapshot-count=7")
	server, _ := runKubeAPIServer(t, etcd, "-v=0", "--vmodule=a=1", "--feature-gates=A=true", "--feature-gates=B=true",
		"--runtime-config", "api/all=true", "--allow-privileged", "--audit-log-path=-", "--disable-admission-plugins=LimitRanger")
	for _, s := range []*running{server, etcd} {
		s.stop(syscall.SIGTERM)
	}
	for s, want := range map[*running]string{
		etcd:   "etcd: without effect here: --experimental-x, --max-request-bytes, --snapshot-count\n",
		server: "kube-apiserver: without effect here: --feature-gates, --runtime-config, --audit-log-path\n",
	} {
		if s.stderr.String() != want {
			t.Errorf("got  %swant %s", s.stderr, want)
		}
	}
}

// A test that is killed leaves nobody behind.
func TestEndsWithItsParent(t *testing.T) {
	t.Parallel()
	etcd, address := freeAddress(t), freeAddress(t)
	for name, tc := range map[string]struct {
		url  string
		args []string
	}{
		"etcd": {"http://" + etcd + "/health", []string{"--listen-client-urls=http://" + etcd, "--data-dir=" + filepath.Join(t.TempDir(), "data")}},
		"kube-apiserver": {"https://" + address + "/healthz", []string{
			"--etcd-servers=" + runEtcd(t).url, "--bind-address=127.0.0.1", "--secure-port=" + portOf(address),
			"--authorization-mode=RBAC", "--cert-dir=" + t.TempDir(),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			link := filepath.Join(t.TempDir(), name)
			check(t, os.Symlink(program, link))
			parent := exec.Command("sh", append([]string{"-c", `"$@" & echo $! && wait`, "sh", link}, tc.args...)...)
			output, input, err := os.Pipe() // the child holds it open
			check(t, err)
			defer output.Close()
			parent.Stdout, parent.Stderr = input, input
			check(t, parent.Start())
			check(t, input.Close())
			awaitAnswer(t, tc.url)
			check(t, parent.Process.Kill())
			_ = parent.Wait()
			check(t, output.SetReadDeadline(time.Now().Add(patience)))
			said, err := io.ReadAll(output)
			pid, last, _ := strings.Cut(string(said), "\n")
			if err != nil {
				_ = exec.Command("kill", "-9", pid).Run()
				t.Fatalf("goes on without its parent: %v", err)
			}
			if !strings.HasPrefix(last, name+": stopping, for process ") {
				t.Errorf("the last words are %q", last)
			}
		})
	}
}

// freeAddress is one that is free, and stays so with some luck. Nobody says
// which port a stand-in has taken.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func portOf(address string) string { return address[strings.LastIndex(address, ":")+1:] }
