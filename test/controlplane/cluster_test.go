package controlplane

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// patience limits the wait for a reaction of the programs.
const patience = 90 * time.Second

// cluster is miniapi with the programs of the page, started by its commands.
type cluster struct {
	t         *testing.T
	dir, logs string
	env       []string
	page      page
	processes map[string]*process
}

// newCluster starts miniapi with a change of its command, "" for none.
func newCluster(t *testing.T, from, to string) *cluster {
	t.Helper()
	check(t, requirePrograms())
	c := &cluster{t: t, dir: t.TempDir(), processes: map[string]*process{}}
	c.logs = c.dir
	if *keepLogs != "" {
		c.logs = filepath.Join(*keepLogs, t.Name())
		check(t, os.MkdirAll(c.logs, 0o700))
	}
	c.page = readPage(t, map[string]string{":2379": freePort(t, ":"), " 6443": freePort(t, " "), "8443": freePort(t, "")})
	stages, err := os.ReadFile(filepath.Join(*programsDir, "kwok-stages.yaml"))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(c.dir, "kwok-stages.yaml"), stages, 0o600))
	c.env = append(os.Environ(), "HOME="+c.dir, "KUBECONFIG=admin.kubeconfig", "KUBECTL_KUBERC=false",
		"PATH="+strings.Join([]string{absolute(t, filepath.Dir(*miniapiFile)), absolute(t, *programsDir), os.Getenv("PATH")}, ":"))
	if from != "" && !strings.Contains(c.page.programs["miniapi"], from) {
		t.Fatalf("the command has no %q", from)
	}
	c.page.programs["miniapi"] = strings.Replace(c.page.programs["miniapi"], from, to, 1)
	c.startServer()
	return c
}

// startServer starts miniapi and waits until it is ready.
func (c *cluster) startServer() {
	c.t.Helper()
	c.startProgram("miniapi")
	c.eventually(c.t, "the server is ready", "kubectl get --raw /readyz")
}

func (c *cluster) startProgram(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.processes[name] = c.start(c.page.programs[name])
	}
}

// startNodes starts the components, and the nodes and the Deployment of the page.
func (c *cluster) startNodes() {
	c.t.Helper()
	c.startProgram("kube-controller-manager", "kube-scheduler", "kwok")
	c.mustRun(c.t, c.page.nodes)
}

// eventually repeats a script until it succeeds.
func (c *cluster) eventually(t *testing.T, what, script string) {
	t.Helper()
	var output string
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		var err error
		output, err = c.script(t, c.dir, script)
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, output)
	}
}

// freePort returns a prefix and a free port.
func freePort(t *testing.T, prefix string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	check(t, listener.Close())
	_, port, err := net.SplitHostPort(listener.Addr().String())
	check(t, err)
	return prefix + port
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	check(t, err)
	return path
}
