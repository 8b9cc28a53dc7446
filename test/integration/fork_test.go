package integration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestForkHasTheStateAndIsIndependent(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{CRDs: []string{write(t, t.TempDir(), "crd.yaml", definition("widgets", "Widget"))}})
	client := clientset(t, server)
	createConfigMap(t, client, "shared")
	createWidget(t, server, "w")
	check(t, client.CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}))
	await(t, func() bool {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), "kube-node-lease", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})

	fork, err := server.Fork(t.Context())
	check(t, err)
	defer func() { check(t, servertest.Stop(fork)) }()
	forked := clientset(t, fork)
	if diff := cmp.Diff(contents(t, client), contents(t, forked)); diff != "" {
		t.Errorf("the fork differs: %s", diff)
	}
	if _, err := widgets(t, fork).Get(t.Context(), "w", metav1.GetOptions{}); err != nil {
		t.Errorf("a custom resource: %v", err)
	}
	if _, err := forked.CoreV1().Namespaces().Get(t.Context(), "kube-node-lease", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted bootstrap object: %v", err)
	}

	createConfigMap(t, forked, "fork")
	createConfigMap(t, client, "original")
	updateConfigMap(t, forked, "shared", "changed")
	if _, ok := contents(t, client)["fork"]; ok {
		t.Error("the original has an object of the fork")
	}
	if _, ok := contents(t, forked)["original"]; ok {
		t.Error("the fork has a later object of the original")
	}
	check(t, fork.Reset(t.Context(), miniapi.ResetOptions{})) // to the state of the fork at its start
	if got := contents(t, forked); len(got) != 1 || got["shared"] != contents(t, client)["shared"] {
		t.Errorf("after a reset of the fork: %v", got)
	}
}

// Objects of a fork must not be newer than the time of its API.
func TestForkHasTheAdvancedTime(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	check(t, server.Advance(time.Hour))
	fork, err := server.Fork(t.Context())
	check(t, err)
	defer func() { check(t, servertest.Stop(fork)) }()
	if ahead := time.Until(fork.Now()); ahead < 59*time.Minute {
		t.Errorf("the fork is %v ahead of the machine, want an hour", ahead)
	}
}

func TestForkOfASecureServer(t *testing.T) {
	server := secureServer(t, nil)
	createConfigMap(t, servertest.Client(t, server.RESTConfig()), "a")
	fork, err := server.Fork(t.Context())
	check(t, err)
	defer func() { check(t, servertest.Stop(fork)) }()
	if got := contents(t, servertest.Client(t, fork.RESTConfig())); len(got) != 1 {
		t.Errorf("objects of the fork: %v", got)
	}
}

// TestRestoreOfAnotherServer restores an object that a fork has under another create revision.
func TestRestoreOfAnotherServer(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	client := clientset(t, server)
	createConfigMap(t, client, "a")
	fork, err := server.Fork(t.Context())
	check(t, err)
	defer func() { check(t, servertest.Stop(fork)) }()
	updateConfigMap(t, client, "a", "value")

	forked := clientset(t, fork)
	list, err := forked.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	events, err := forked.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	check(t, err)
	defer events.Stop()
	check(t, fork.Restore(t.Context(), takeSnapshot(t, server)))
	if event := <-events.ResultChan(); event.Type != watch.Modified {
		t.Errorf("got %v: the object has the same UID", event)
	}
	if diff := cmp.Diff(contents(t, client), contents(t, forked)); diff != "" {
		t.Error(diff)
	}
}
