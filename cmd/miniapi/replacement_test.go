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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/freeport"
)

// as returns a command that runs miniapi under another name.
func as(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	cmd.Args[0] = name
	return cmd
}

// envtest searches the help for the flags that it can pass.
func TestHelpHasFlagsAtTheStartOfALine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ has, hasNot string }{
		"etcd":                      {"unsafe-no-fsync", "nope"},
		"/usr/bin/etcd.exe":         {"unsafe-no-fsync", "nope"},
		"kube-apiserver":            {"secure-port", "insecure-port"},
		"/usr/bin/kube-apiserver":   {"etcd-servers", "data-dir"},
		"/usr/bin/kubectl-nor-etcd": {"listen", "unsafe-no-fsync"},
	} {
		out, err := as(t, name, "--help").CombinedOutput()
		check(t, err)
		has := func(flag string) bool { return regexp.MustCompile(`(?m)^\s*--` + flag + `\b`).Match(out) }
		if !has(want.has) || has(want.hasNot) {
			t.Errorf("%s has %s: %v, has %s: %v:\n%s", name, want.has, has(want.has), want.hasNot, has(want.hasNot), out)
		}
	}
}

func TestReplacementVersions(t *testing.T) {
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

func TestUnknownControllerInTheEnvironment(t *testing.T) {
	t.Parallel()
	cmd := as(t, "kube-apiserver", "--etcd-servers=http://127.0.0.1:1")
	cmd.Env = append(cmd.Env, "MINIAPI_CONTROLLERS=*,-namespaces")
	out, err := cmd.CombinedOutput()
	want := regexp.MustCompile(`^kube-apiserver: controller "-namespaces" is unknown: use \*, or .*namespace-controller.* ` +
		`\(environment variable MINIAPI_CONTROLLERS\): did you mean "namespace"\?\n$`)
	if err == nil || !want.Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReplacementErrors(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer busy.Close()
	for want, args := range map[string][]string{
		"etcd: unexpected argument \"start\": etcd takes flags only":            {"etcd", "start"},
		"etcd: start embedded etcd: client URL \"http://0.0.0.0:2379\": m":      {"etcd", "-listen-client-urls", "http://0.0.0.0:2379"},
		"etcd: invalid argument \"x\" for \"--quota-backend-bytes\" flag":       {"etcd", "--quota-backend-bytes=x"},
		"take a free one with --listen-client-urls http://127.0.0.1:0":          {"etcd", "--listen-client-urls", "http://" + busy.Addr().String(), "--data-dir", filepath.Join(t.TempDir(), "data")},
		"kube-apiserver: --etcd-servers is required: set it to the URL of etcd": {"kube-apiserver"},
		"take a free one with --secure-port 0":                                  {"kube-apiserver", "--etcd-servers=http://127.0.0.1:1", "--bind-address=127.0.0.1", "--secure-port=" + portOf(busy.Addr().String())},
	} {
		out, err := as(t, args[0], args[1:]...).CombinedOutput()
		if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v, want one line with %s:\n%s", args, err, want, out)
		}
	}
}

// process is a running replacement.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
	wait   func() error // can be called more than once
}

// runReplacement starts a replacement and waits until url returns 200.
func runReplacement(t *testing.T, url string, cmd *exec.Cmd) *process {
	t.Helper()
	s := &process{t: t, cmd: cmd, url: url[:strings.LastIndex(url, "/")], stderr: &bytes.Buffer{}}
	cmd.Stdout, cmd.Stderr = s.stderr, s.stderr
	check(t, cmd.Start())
	s.wait = sync.OnceValue(cmd.Wait)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // in case it still runs
		_ = s.wait()
	})
	awaitOK(t, url)
	return s
}

// awaitOK sends requests, as envtest does, until url returns 200.
func awaitOK(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
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
			t.Fatalf("%s did not return 200 in time", url)
		case <-ticker.C:
		}
	}
}

func (s *process) stop(signal syscall.Signal) {
	s.t.Helper()
	check(s.t, s.cmd.Process.Signal(signal))
	if err := s.wait(); (err != nil) != (signal == syscall.SIGKILL) {
		s.t.Errorf("%s: exit: %v:\n%s", s.cmd.Args[0], err, s.stderr)
	}
}

func runEtcd(t *testing.T, args ...string) *process {
	t.Helper()
	url := "http://" + freeAddress(t)
	return runReplacement(t, url+"/health", as(t, "etcd", append([]string{
		"--advertise-client-urls=" + url, "--listen-client-urls=" + url, "--listen-peer-urls=http://localhost:0",
		"--data-dir=" + filepath.Join(t.TempDir(), "data"), "--unsafe-no-fsync=true",
	}, args...)...))
}

func runKubeAPIServer(t *testing.T, etcd *process, args ...string) (*process, *kubernetes.Clientset) {
	t.Helper()
	return runKubeAPIServerWith(t, etcd, nil, args...)
}

// runKubeAPIServerWith adds variables to the environment.
func runKubeAPIServerWith(t *testing.T, etcd *process, env []string, args ...string) (*process, *kubernetes.Clientset) {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	check(t, os.WriteFile(tokens, []byte("secret,jane,u1,system:masters\n"), 0o600))
	address := freeAddress(t)
	cmd := as(t, "kube-apiserver", append([]string{
		"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--secure-port=" + portOf(address), "--cert-dir=" + dir,
		"--disable-admission-plugins=ServiceAccount", "--etcd-servers=" + etcd.url, "--service-account-issuer=https://" + address + "/",
		"--service-cluster-ip-range=10.0.0.0/24", "--token-auth-file=" + tokens,
	}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	s := runReplacement(t, "https://"+address+"/healthz", cmd)
	clientset, err := kubernetes.NewForConfig(&rest.Config{
		Host: s.url, BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, "apiserver.crt")},
	})
	check(t, err)
	return s, clientset
}

func TestReplacedControlPlane(t *testing.T) {
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
	if output := etcd.stderr.String() + server.stderr.String(); output != "" {
		t.Errorf("messages on standard error:\n%s", output)
	}
}

// Only a server whose environment names controllers completes the deletion of a namespace.
func TestControllersOfTheReplacementAreOffUnlessNamed(t *testing.T) {
	t.Parallel()
	deleteNamespace := func(env ...string) typedcorev1.NamespaceInterface {
		_, clientset := runKubeAPIServerWith(t, runEtcd(t), env)
		namespaces := clientset.CoreV1().Namespaces()
		_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		check(t, err)
		check(t, namespaces.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		return namespaces
	}
	off, on := deleteNamespace(), deleteNamespace("MINIAPI_CONTROLLERS=namespace")
	for deadline := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		if _, err := on.Get(t.Context(), "a", metav1.GetOptions{}); apierrors.IsNotFound(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the named controller does not run")
		}
	}
	if left, err := off.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || left.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("without the variable: phase %q, %v", left.Status.Phase, err)
	}
}

func TestKubeAPIServerStopsWithoutEtcd(t *testing.T) {
	t.Parallel()
	etcd := runEtcd(t)
	server, clientset := runKubeAPIServer(t, etcd)
	watch, err := clientset.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer watch.Stop()
	etcd.stop(syscall.SIGKILL)
	server.stop(syscall.SIGTERM)
}

// Requests that wait for etcd do not prevent an orderly stop if etcd was stopped first: they fail.
func TestKubeAPIServerStopsWhileRequestsWaitForEtcd(t *testing.T) {
	t.Parallel()
	etcd, log := runEtcd(t), filepath.Join(t.TempDir(), "audit.log")
	server, clientset := runKubeAPIServer(t, etcd, "--audit-log-path="+log)
	etcd.stop(syscall.SIGTERM)
	client, answers := clientset.CoreV1().RESTClient(), make(chan error, 2)
	for _, request := range []*rest.Request{
		client.Post().Body(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}), client.Get(),
	} {
		go func() { // ends with the server
			answers <- request.Namespace("default").Resource("configmaps").MaxRetries(0).Do(t.Context()).Error()
		}()
	}
	awaitReceived(t, log, "/api/v1/namespaces/default/configmaps", cap(answers))
	server.stop(syscall.SIGTERM)
	for range cap(answers) {
		if err := <-answers; !apierrors.IsServerTimeout(err) {
			t.Errorf("a request that waited for etcd returned %v", err)
		}
	}
	if output := server.stderr.String(); strings.Count(output, "\n") != strings.Count(output, `msg="request failed"`) {
		t.Errorf("other messages than for failed requests:\n%s", output)
	}
}

// awaitReceived waits until an audit log shows that a number of requests for a path are open.
func awaitReceived(t *testing.T, log, path string, requests int) {
	t.Helper()
	received := regexp.MustCompile(`"stage":"RequestReceived","requestURI":"` + path + `"`)
	for deadline := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(log)
		check(t, err)
		if len(received.FindAll(text, -1)) == requests {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d requests for %s did not arrive:\n%s", requests, path, text)
		}
	}
}

func TestUnknownFlagsAreIgnoredWithOneWarning(t *testing.T) {
	t.Parallel()
	etcd := runEtcd(t, "-name", "one", "--experimental-x", "--max-request-bytes", "99", "--name", "two", "-snapshot-count=7")
	server, _ := runKubeAPIServer(t, etcd, "-v=0", "--vmodule=a=1", "--contention-profiling=a", "--contention-profiling=b",
		"--runtime-config", "api/all=true", "--allow-privileged", "--goaway-chance=0", "--disable-admission-plugins=LimitRanger")
	for _, s := range []*process{server, etcd} {
		s.stop(syscall.SIGTERM)
	}
	for s, want := range map[*process]string{
		etcd:   "etcd: ignored flags: --experimental-x, --max-request-bytes, --snapshot-count\n",
		server: "kube-apiserver: ignored flags: --contention-profiling, --runtime-config, --goaway-chance\n",
	} {
		if s.stderr.String() != want {
			t.Errorf("got  %swant %s", s.stderr, want)
		}
	}
}

// A killed test leaves no process running. envtest chooses the names of the directories.
func TestReplacementsOfEnvtestEndWithTheirParent(t *testing.T) {
	t.Parallel()
	etcd, address := freeAddress(t), freeAddress(t)
	for name, tc := range map[string]struct {
		url  string
		args []string
	}{
		"etcd": {"http://" + etcd + "/health", []string{"--listen-client-urls=http://" + etcd, "--data-dir=" + filepath.Join(t.TempDir(), "k8s_test_framework_1")}},
		"kube-apiserver": {"https://" + address + "/healthz", []string{
			"--etcd-servers=" + runEtcd(t).url, "--bind-address=127.0.0.1", "--secure-port=" + portOf(address),
			"--authorization-mode=RBAC", "--cert-dir=" + filepath.Join(t.TempDir(), "k8s_test_framework_2"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if message := runOrphan(t, name, tc.url, tc.args...).awaitEnd(); !strings.HasPrefix(message, name+": stopping, since its parent process ") {
				t.Errorf("message %q", message)
			}
		})
	}
}

// A shell script can start the programs and end, as with the real ones.
func TestReplacementsOfScriptsOutliveThem(t *testing.T) {
	t.Parallel()
	etcd, other := freeAddress(t), freeAddress(t)
	script := runOrphan(t, "etcd", "http://"+etcd+"/health", "--listen-client-urls=http://"+etcd, "--data-dir="+filepath.Join(t.TempDir(), "data"))
	defer script.kill()
	// The second process starts after the script has ended, so it notices the end of its parent
	// later than the first process would.
	runOrphan(t, "etcd", "http://"+other+"/health", "--outlive-parent=false", "--listen-client-urls=http://"+other,
		"--data-dir="+filepath.Join(t.TempDir(), "data")).awaitEnd()
	awaitOK(t, "http://"+etcd+"/health")
}

// orphan is a replacement whose parent process has ended.
type orphan struct {
	t      *testing.T
	pid    string
	output *os.File // ends with the process
}

// runOrphan runs a replacement as the child of a shell, waits until url returns 200, and kills the
// shell.
func runOrphan(t *testing.T, name, url string, args ...string) orphan {
	t.Helper()
	link := filepath.Join(t.TempDir(), name)
	check(t, os.Symlink(program, link))
	parent := exec.Command("sh", append([]string{"-c", `"$@" & echo $! && wait`, "sh", link}, args...)...)
	output, input, err := os.Pipe() // the child keeps input open
	check(t, err)
	t.Cleanup(func() { _ = output.Close() })
	parent.Stdout, parent.Stderr = input, input
	check(t, parent.Start())
	check(t, input.Close())
	awaitOK(t, url)
	check(t, parent.Process.Kill())
	_ = parent.Wait()
	var pid []byte
	for one := make([]byte, 1); !bytes.HasSuffix(pid, []byte("\n")); pid = append(pid, one...) {
		_, err := output.Read(one)
		check(t, err)
	}
	return orphan{t, strings.TrimSpace(string(pid)), output}
}

// awaitEnd waits until the process has ended and returns its messages.
func (o orphan) awaitEnd() string {
	o.t.Helper()
	check(o.t, o.output.SetReadDeadline(time.Now().Add(timeout)))
	message, err := io.ReadAll(o.output)
	if err != nil {
		o.kill()
		o.t.Fatalf("still running without its parent: %v", err)
	}
	return string(message)
}

func (o orphan) kill() { _ = exec.Command("kill", "-9", o.pid).Run() }

// freeAddress returns a loopback address with a free port. Replacements do not report the port that
// they take for port 0.
func freeAddress(t *testing.T) string {
	t.Helper()
	addresses, err := freeport.Addresses("127.0.0.1", 1)
	check(t, err)
	return addresses[0]
}

func portOf(address string) string { return address[strings.LastIndex(address, ":")+1:] }
