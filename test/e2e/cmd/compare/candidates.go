package main

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientgofake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	controllerruntimefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/miniapitest"
)

// candidate is a way to test.
type candidate struct {
	name     string
	binaries binaries
	// further is the number of servers that are started after the first one and run beside it.
	further int
	// start starts a server that ends with the test. The returned function creates an object.
	start func(t *test) (create func(context.Context) error, err error)
}

// binaries are the programs that envtest runs.
type binaries int

const (
	none       binaries = iota
	downloaded          // of setup-envtest
	ours                // of miniapi assets
)

var candidates = []candidate{
	{"client-go fake", none, 10, startClientGoFake},
	{"controller-runtime fake", none, 10, startControllerRuntimeFake},
	{"envtest", downloaded, 1, startEnvtest},
	{"envtest with `miniapi assets`", ours, 1, startEnvtest},
	{"`miniapi.Start`", none, 10, startInProcess},
	{"`miniapitest.Start`", none, 10, startInHost},
}

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}}
}

func startClientGoFake(*test) (func(context.Context) error, error) {
	return creator(clientgofake.NewClientset()), nil
}

func startControllerRuntimeFake(*test) (func(context.Context) error, error) {
	client := controllerruntimefake.NewClientBuilder().Build()
	return func(ctx context.Context) error { return client.Create(ctx, configMap()) }, nil
}

func startEnvtest(t *test) (func(context.Context) error, error) {
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { t.check(env.Stop()) })
	return creatorFor(config)
}

func startInProcess(t *test) (func(context.Context) error, error) {
	server, err := miniapi.Start(context.Background(), miniapi.Config{})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { t.check(server.Stop(context.Background())) })
	return creatorFor(server.RESTConfig())
}

func startInHost(t *test) (func(context.Context) error, error) {
	return creatorFor(miniapitest.Start(t, miniapitest.Options{}).RESTConfig())
}

func creatorFor(config *rest.Config) (func(context.Context) error, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return creator(client), nil
}

func creator(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap(), metav1.CreateOptions{})
		return err
	}
}

// test is the testing.TB of miniapitest in a program.
type test struct {
	testing.TB // nil: only the methods below are called
	cleanups   []func()
}

func (t *test) Helper()                           {}
func (t *test) Name() string                      { return "compare" }
func (t *test) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *test) Failed() bool                      { return false } // a failure panics
func (t *test) Log(...any)                        {}
func (t *test) Logf(string, ...any)               {}
func (t *test) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *test) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (t *test) check(err error) {
	if err != nil {
		t.Errorf("%v", err)
	}
}

func (t *test) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
