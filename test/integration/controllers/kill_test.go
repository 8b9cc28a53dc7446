package controllers_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
)

// dataDirEnv makes the test binary a server with a data directory, which prints its URL and runs
// until its standard input ends.
const dataDirEnv = "MINIAPI_TEST_DATA_DIR"

func serve(dir string) error {
	server, err := miniapi.Start(context.Background(), miniapi.Config{DataDir: dir})
	if err != nil {
		return err
	}
	fmt.Println(server.URL())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return server.Stop(context.Background())
}

// startProcess starts a server in a process of its own. kill ends it without a chance to finish
// anything.
func startProcess(t *testing.T, dir string) (e *env, kill func()) {
	t.Helper()
	e = &env{TB: t}
	program, err := os.Executable()
	e.check(err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env, cmd.Stderr = append(os.Environ(), dataDirEnv+"="+dir), os.Stderr
	_, err = cmd.StdinPipe()
	e.check(err)
	stdout, err := cmd.StdoutPipe()
	e.check(err)
	e.check(cmd.Start())
	url, err := bufio.NewReader(stdout).ReadString('\n')
	e.check(err)
	config := &rest.Config{Host: strings.TrimSpace(url), QPS: -1}
	e.client, e.dynamic = kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)
	return e, func() {
		e.check(cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	}
}

// countConfigMaps returns the number of ConfigMaps in a namespace.
func (e *env) countConfigMaps(namespace string) int {
	e.Helper()
	list, err := e.client.CoreV1().ConfigMaps(namespace).List(e.Context(), metav1.ListOptions{ResourceVersion: "0"})
	e.check(err)
	return len(list.Items)
}

// killDuring starts a server on a data directory, creates objects, begins their deletion, and kills
// the server when a part of the ConfigMaps in a namespace is deleted. One of them has a finalizer,
// so the deletion cannot end.
func killDuring(t *testing.T, dir, namespace string, create, remove func(*env)) {
	t.Helper()
	e, kill := startProcess(t, dir)
	create(e)
	all := e.countConfigMaps(namespace)
	remove(e)
	e.await("the deletion of objects", func(context.Context) bool { return e.countConfigMaps(namespace) < all*9/10 })
	kill()
}

// The deletion of a namespace continues after the server was killed in the middle of it.
func TestKillDuringTheDeletionOfANamespace(t *testing.T) {
	dir := t.TempDir()
	killDuring(t, dir, "n", func(e *env) {
		e.createNamespace("n")
		for i := range 300 {
			e.createConfigMap("n", fmt.Sprintf("m%d", i))
		}
		e.createConfigMap("n", "held", withFinalizer("example.com/hold"))
	}, func(e *env) { e.deleteNamespace("n") })
	e := start(t, miniapi.Config{DataDir: dir})
	e.await("the deletion of the other objects", func(context.Context) bool { return e.countConfigMaps("n") == 1 })
	e.patchConfigMap("n", "held", `{"metadata":{"finalizers":null}}`)
	e.awaitNamespaceGone("n")
}

// A collection in the foreground continues after the server was killed in the middle of it.
func TestKillDuringACollection(t *testing.T) {
	dir := t.TempDir()
	killDuring(t, dir, namespace, func(e *env) {
		owner := e.createConfigMap(namespace, "owner")
		for i := range 300 {
			e.createConfigMap(namespace, fmt.Sprintf("child-%d", i), ownedBy(blocking(owner)))
		}
		e.createConfigMap(namespace, "held", ownedBy(blocking(owner)), withFinalizer("example.com/hold"))
	}, func(e *env) { e.deleteConfigMap("owner", metav1.DeletePropagationForeground) })
	e := start(t, miniapi.Config{DataDir: dir})
	e.await("the deletion of the other dependents", func(context.Context) bool { return e.countConfigMaps(namespace) == 2 })
	e.patchConfigMap(namespace, "held", `{"metadata":{"finalizers":null}}`)
	e.awaitGone("owner", "held")
}
