// Package faults_test injects failures into the requests of real clients.
package faults_test

import (
	"context"
	"os"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/testapi/faults"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a server with a client that does not repeat requests.
type env struct {
	*testing.T
	server *miniapi.Server
	faults *faults.Set
	client *kubernetes.Clientset
}

func start(t *testing.T) *env {
	t.Helper()
	return startWith(t, miniapi.Config{Controllers: []string{"-*"}})
}

func startWith(t *testing.T, config miniapi.Config) *env {
	t.Helper()
	server := servertest.Start(t, config)
	e := &env{T: t, server: server, faults: server.Faults()}
	e.client = servertest.Client(t, server.RESTConfig())
	return e
}

// dialEtcd returns a client of an etcd.
func dialEtcd(t *testing.T, store *embedded.Server) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: store.ClientURLs(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// informer starts an informer, which ends with the test, and returns its lister.
func (e *env) informer() listers.ConfigMapNamespaceLister {
	e.Helper()
	return e.informerOf(e.client)
}

func (e *env) informerOf(client kubernetes.Interface) listers.ConfigMapNamespaceLister {
	e.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().ConfigMaps().Lister().ConfigMaps("default")
	factory.Start(ctx.Done())
	e.Cleanup(factory.Shutdown)
	e.Cleanup(cancel)
	factory.WaitForCacheSync(ctx.Done())
	return lister
}

func (e *env) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (e *env) create(name string) error {
	_, err := e.client.CoreV1().ConfigMaps("default").Create(e.Context(), configMap(name), metav1.CreateOptions{})
	return err
}

func (e *env) get(name string) (*corev1.ConfigMap, error) {
	return e.client.CoreV1().ConfigMaps("default").Get(e.Context(), name, metav1.GetOptions{})
}

func (e *env) update(obj *corev1.ConfigMap) error {
	_, err := e.client.CoreV1().ConfigMaps("default").Update(e.Context(), obj, metav1.UpdateOptions{})
	return err
}
