package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/freeport"
)

// TestCluster runs the services of docker-compose.yml with their command lines, as processes on
// loopback: etcd members and stateless replicas.
func TestCluster(t *testing.T) {
	file := readCompose(t)
	places := newPlaces(t, file.named("etcd"))
	etcds := places.startEtcds(t, file)
	var replicas []*process
	for _, name := range file.named("miniapi") { // concurrently: both write the bootstrap objects
		replicas = append(replicas, startMiniapi(t, places.here(name, file.Services[name].Command)))
	}
	one, two := replicas[0].clientset(t), replicas[1].clientset(t)

	first := stories{t, one, two}
	written := first.writeIsSeenByTheOther()
	first.staleWriteConflicts(written)
	first.watchSeesTheOthersWrites(func(write func(n int)) {
		write(1)
		etcds[places.client("etcd1")].kill() // watches and writes continue without it
		write(2)
		replicas[0].kill() // the other replica continues
		write(3)
	})
	third := startMiniapi(t, places.here("miniapi3", file.Services["miniapi1"].Command)).clientset(t)
	stories{t, third, two}.staleWriteConflicts(stories{t, third, two}.writeIsSeenByTheOther())
}

type stories struct {
	t        *testing.T
	one, two *kubernetes.Clientset
}

func (s stories) writeIsSeenByTheOther() *corev1.ConfigMap {
	s.t.Helper()
	written, err := s.one.CoreV1().ConfigMaps(namespace).Create(s.t.Context(), generated(), metav1.CreateOptions{})
	check(s.t, err)
	read, err := s.two.CoreV1().ConfigMaps(namespace).Get(s.t.Context(), written.Name, metav1.GetOptions{})
	check(s.t, err)
	if read.ResourceVersion != written.ResourceVersion || read.UID != written.UID {
		s.t.Errorf("written at %s, read at %s", written.ResourceVersion, read.ResourceVersion)
	}
	return written
}

func (s stories) staleWriteConflicts(stale *corev1.ConfigMap) {
	s.t.Helper()
	latest := stale.DeepCopy()
	latest.Data["n"] = "two"
	_, err := s.two.CoreV1().ConfigMaps(namespace).Update(s.t.Context(), latest, metav1.UpdateOptions{})
	check(s.t, err)
	stale.Data["n"] = "one"
	_, err = s.one.CoreV1().ConfigMaps(namespace).Update(s.t.Context(), stale, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		s.t.Errorf("update of a copy made stale by the other replica: %v, want a conflict", err)
	}
}

// watchSeesTheOthersWrites watches through the second replica while f writes through the first one,
// or through the second one if the first is down.
func (s stories) watchSeesTheOthersWrites(f func(write func(n int))) {
	s.t.Helper()
	watching, err := s.two.CoreV1().ConfigMaps(namespace).Watch(s.t.Context(), metav1.ListOptions{LabelSelector: "watched"})
	check(s.t, err)
	defer watching.Stop()
	f(func(n int) {
		config := newConfigMap(fmt.Sprintf("watched-%d", n))
		config.Labels = map[string]string{"watched": "true"}
		s.createWithRetry(config)
		event := receive(s.t, watching.ResultChan())
		if got, ok := event.Object.(*corev1.ConfigMap); !ok || got.Name != config.Name {
			s.t.Errorf("watched %v, want %s", event, config.Name)
		}
	})
}

// createWithRetry creates an object while parts of the cluster fail. It retries at both replicas.
func (s stories) createWithRetry(config *corev1.ConfigMap) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for {
		for _, replica := range []*kubernetes.Clientset{s.one, s.two} {
			_, err := replica.CoreV1().ConfigMaps(namespace).Create(ctx, config, metav1.CreateOptions{})
			if err == nil || apierrors.IsAlreadyExists(err) {
				return
			}
			if ctx.Err() != nil {
				s.t.Fatalf("the cluster did not recover: %v", err)
			}
		}
	}
}

func generated() *corev1.ConfigMap {
	config := newConfigMap("")
	config.GenerateName = "story-"
	return config
}

// places maps the hosts of the file to addresses on this machine.
type places struct {
	dir      string
	replacer *strings.Replacer
	own      map[string]*strings.Replacer // listen addresses of a member
}

// client returns the client URL of a member on this machine.
func (p *places) client(member string) string {
	return p.replacer.Replace("http://" + member + ":2379")
}

func newPlaces(t *testing.T, members []string) *places {
	t.Helper()
	p := &places{dir: t.TempDir(), own: map[string]*strings.Replacer{}}
	var hosts []string
	addresses := freeAddresses(t, 2*len(members))
	for i, name := range members {
		client, peer := "http://"+addresses[2*i], "http://"+addresses[2*i+1]
		hosts = append(hosts, "http://"+name+":2379", client, "http://"+name+":2380", peer)
		p.own[name] = strings.NewReplacer("http://0.0.0.0:2379", client, "http://0.0.0.0:2380", peer)
	}
	p.replacer = strings.NewReplacer(hosts...)
	return p
}

// startEtcds starts the members and returns them by their client URLs when the cluster has a
// leader, as docker compose does before it starts a replica.
func (p *places) startEtcds(t *testing.T, file compose) map[string]*process {
	t.Helper()
	members := map[string]*process{}
	for _, name := range file.named("etcd") {
		members[p.client(name)] = startEtcd(t, p.here(name, file.Services[name].Command[1:]))
	}
	for url := range members {
		awaitHealthy(t, url)
	}
	return members
}

// awaitHealthy waits until a member of etcd reaches a leader.
func awaitHealthy(t *testing.T, url string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		response, err := http.Get(url + "/health")
		if err == nil {
			check(t, response.Body.Close())
			if response.StatusCode == http.StatusOK {
				http.DefaultClient.CloseIdleConnections()
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not healthy: %v", url, err)
		}
	}
}

// here returns a command line of the file with addresses of this machine.
func (p *places) here(name string, line []string) []string {
	listen := strings.NewReplacer("0.0.0.0:8080", "127.0.0.1:0", "/etcd-data", filepath.Join(p.dir, name), "/tmp/kubeconfig", filepath.Join(p.dir, name))
	here := make([]string, len(line))
	for i, word := range line {
		if own := p.own[name]; own != nil {
			word = own.Replace(word)
		}
		here[i] = listen.Replace(p.replacer.Replace(word))
	}
	return here
}

// freeAddresses returns loopback addresses with free ports.
func freeAddresses(t *testing.T, count int) []string {
	t.Helper()
	addresses, err := freeport.Addresses("127.0.0.1", count)
	check(t, err)
	return addresses
}

// process is a running program that is killed at the end of the test. It also ends if the test is
// killed.
type process struct {
	url    string // of miniapi
	kill   func()
	signal func(os.Signal) error
}

func startEtcd(t *testing.T, args []string) *process {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), etcdMarker+"=1")
	return startProcess(t, cmd, syscall.SIGKILL)
}

func startMiniapi(t *testing.T, args []string) *process {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, append([]string{filepath.Join(programsDir(t), "miniapi")}, args...)...)
	cmd.Env = append(os.Environ(), guardMarker+"=1")
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	p := startProcess(t, cmd, syscall.SIGTERM)
	address := bannerAddress(bufio.NewScanner(stdout))
	if address == "" {
		t.Fatalf("miniapi %s did not start", strings.Join(args, " "))
	}
	p.url = "http://" + address
	return p
}

// startProcess starts a program that kill ends at once.
func startProcess(t *testing.T, cmd *exec.Cmd, kill syscall.Signal) *process {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	check(t, cmd.Start())
	p := &process{signal: cmd.Process.Signal, kill: sync.OnceFunc(func() {
		_ = cmd.Process.Signal(kill)
		_ = cmd.Wait() // reports the signal
	})}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s said: %s", filepath.Base(cmd.Path), stderr.String())
		}
	})
	return p
}

func (p *process) clientset(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	return newClientset(t, &rest.Config{Host: p.url, QPS: -1})
}
