package robustness_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/test/robustness/cluster"
	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// TestRecovery runs the commands of docs/etcd-cluster.md: a backup, a restore of the backup, and a
// restore from the last member. An informer that runs all the time sees the restored state.
func TestRecovery(t *testing.T) {
	t.Parallel()
	site := newRecoverySite(t)
	site.write("kept", "backed up")
	site.runDocumented("Backup")
	site.write("kept", "written later")
	site.write("lost", "written later")

	site.stop()
	site.runDocumented("Restore")
	before := site.revision
	site.start()
	site.await("the state of the backup", func(objects map[string]string) bool {
		return objects["kept"] == "backed up" && objects["lost"] == ""
	})
	if site.write("kept", "after the restore"); site.revision <= before {
		t.Errorf("the resourceVersion went from %d to %d", before, site.revision)
	}

	site.stop()
	for _, lost := range site.topology.Members[1:] {
		check(t, os.RemoveAll(filepath.Join(site.dir, lost.Name)))
		check(t, os.Mkdir(filepath.Join(site.dir, lost.Name), 0o700))
	}
	check(t, os.RemoveAll(filepath.Join(site.work, "backup.db")))
	for _, m := range site.topology.Members {
		check(t, os.RemoveAll(filepath.Join(site.dir, m.Name+".old")))
	}
	site.runDocumented("Lost majority")
	site.runDocumented("Restore")
	site.start()
	site.await("the state of the last member", func(objects map[string]string) bool {
		return objects["kept"] == "after the restore"
	})
	site.write("kept", "at the end")
}

// recoveryTimeout limits each step, also on a busy machine.
const recoveryTimeout = 10 * time.Minute

// recoverySite is a cluster with a client of its first replica.
type recoverySite struct {
	*testing.T
	topology *cluster.Topology
	dir      string // of the data
	work     string // where commands run
	clients  kubernetes.Interface
	seen     func() map[string]string // content of an informer
	revision int64                    // of the last write
}

func newRecoverySite(t *testing.T) *recoverySite {
	t.Helper()
	s := &recoverySite{T: t, dir: t.TempDir(), work: t.TempDir()}
	var err error
	s.topology, err = cluster.Start(t.Context(), cluster.Config{Program: program(t), Dir: s.dir, Members: 3, Replicas: 2, Etcd: *etcd})
	check(t, err)
	t.Cleanup(s.topology.Close)
	check(t, cluster.WriteTools(s.work, *etcd))
	s.clients, err = kubernetes.NewForConfig(&rest.Config{Host: s.topology.Servers[0].URL, QPS: -1})
	check(t, err)
	factory := informers.NewSharedInformerFactoryWithOptions(s.clients, 0, informers.WithNamespace(metav1.NamespaceDefault))
	store := factory.Core().V1().Secrets().Informer().GetStore()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	s.seen = func() map[string]string {
		objects := map[string]string{}
		for _, object := range store.List() {
			objects[object.(*corev1.Secret).Name] = string(object.(*corev1.Secret).Data["value"])
		}
		return objects
	}
	return s
}

// write stores a value in a Secret. It retries, because members of etcd elect another leader at any
// time on a busy machine.
func (s *recoverySite) write(name, value string) {
	s.Helper()
	secrets := s.clients.CoreV1().Secrets(metav1.NamespaceDefault)
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"value": []byte(value)}}
	ctx, cancel := context.WithTimeout(s.Context(), recoveryTimeout)
	defer cancel()
	var written *corev1.Secret
	check(s.T, traffic.Retry(ctx, func() (err error) {
		written, err = secrets.Update(ctx, object, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			written, err = secrets.Create(ctx, object, metav1.CreateOptions{})
		}
		return err
	}))
	var err error
	s.revision, err = strconv.ParseInt(written.ResourceVersion, 10, 64)
	check(s.T, err)
	s.await(name+" "+value, func(objects map[string]string) bool { return objects[name] == value })
}

// await waits until the informer has a state. After several failed attempts to connect, client-go
// waits up to a minute before the next one.
func (s *recoverySite) await(state string, reached func(map[string]string) bool) {
	s.Helper()
	for deadline := time.Now().Add(recoveryTimeout); !reached(s.seen()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("the informer has %v, not %s", s.seen(), state)
		}
	}
}

func (s *recoverySite) stop() {
	s.Helper()
	for _, server := range s.topology.Servers {
		check(s.T, server.Stop())
	}
	for _, m := range s.topology.Members {
		check(s.T, m.Stop())
	}
}

func (s *recoverySite) start() {
	s.Helper()
	check(s.T, s.topology.StartMembers(s.Context()))
	for _, server := range s.topology.Servers {
		check(s.T, server.Restart(s.Context()))
	}
}

var codeBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// runDocumented runs the commands of a section of the document.
func (s *recoverySite) runDocumented(section string) {
	s.Helper()
	data, err := os.ReadFile("../../docs/etcd-cluster.md")
	check(s.T, err)
	_, text, found := strings.Cut(string(data), "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	script := codeBlock.FindStringSubmatch(text)
	if !found || script == nil {
		s.Fatalf("the section %q has no commands", section)
	}
	ctx, cancel := context.WithTimeout(s.Context(), recoveryTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", script[1])
	cmd.Dir, cmd.Env = s.work, s.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("the commands of %q: %v\n%s", section, err, out)
	}
}

// environment returns the variables that the document names.
func (s *recoverySite) environment() []string {
	var clients, initial []string
	env := append(os.Environ(), "PATH="+s.work+string(os.PathListSeparator)+os.Getenv("PATH"), "DATA="+s.dir)
	for n, m := range s.topology.Members {
		clients = append(clients, m.ClientURL)
		initial = append(initial, m.Name+"="+m.PeerURL)
		env = append(env, fmt.Sprintf("PEER%d=%s", n+1, m.PeerURL))
	}
	return append(env, "MEMBER="+clients[0], "INITIAL_CLUSTER="+strings.Join(initial, ","),
		"RESCUE="+clients[0],
		"ETCDCTL_DIAL_TIMEOUT=1m", "ETCDCTL_COMMAND_TIMEOUT=1m") // the defaults are short for a busy machine
}
