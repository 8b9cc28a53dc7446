package waiting_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/miniapi/miniapi"
)

// copier is a controller of client-go: for each ConfigMap it keeps a Secret with the same data.
type copier struct {
	client  kubernetes.Interface
	lister  listers.ConfigMapLister
	secrets listers.SecretLister
	queue   workqueue.TypedRateLimitingInterface[string]
}

// startCopier runs the controller until the end of the test.
func startCopier(e *env) {
	e.Helper()
	ctx, cancel := context.WithCancel(e.Context())
	factory := informers.NewSharedInformerFactory(e.client, 0)
	configMaps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	c := &copier{
		client: e.client, lister: configMaps.Lister(), secrets: secrets.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	enqueue := func(obj any) {
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		c.queue.Add(key)
	}
	for _, informer := range []cache.SharedIndexInformer{configMaps.Informer(), secrets.Informer()} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue,
		})
		e.check(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() { c.work(ctx) })
	}
	e.Cleanup(func() {
		cancel()
		c.queue.ShutDown()
		workers.Wait()
		factory.Shutdown()
	})
}

func (c *copier) work(ctx context.Context) {
	for {
		key, ended := c.queue.Get()
		if ended {
			return
		}
		if err := c.reconcile(ctx, key); err != nil {
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

func (c *copier) reconcile(ctx context.Context, key string) error {
	namespace, name, _ := cache.SplitMetaNamespaceKey(key)
	configMap, err := c.lister.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		err = c.client.CoreV1().Secrets(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	secret, err := c.secrets.Secrets(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: configMap.Data}
		_, err = c.client.CoreV1().Secrets(namespace).Create(ctx, secret, metav1.CreateOptions{})
		return err
	}
	if err != nil || string(secret.Data["version"]) == configMap.Data["version"] {
		return err
	}
	secret = secret.DeepCopy()
	secret.StringData = configMap.Data
	_, err = c.client.CoreV1().Secrets(namespace).Update(ctx, secret, metav1.UpdateOptions{})
	return err
}

// A test of a controller needs no Eventually: after Settle the controller has nothing left to do.
func TestSettleAwaitsAControllerWithInformers(t *testing.T) {
	const objects = 20
	e := start(t, miniapi.Config{})
	startCopier(e)
	configMaps, secrets := e.client.CoreV1().ConfigMaps("default"), e.client.CoreV1().Secrets("default")
	wantSecrets := func(want int, version string) {
		t.Helper()
		e.check(e.server.SettleFor(t.Context(), 2*time.Second)) // the controller may wait for a processor
		list, err := secrets.List(t.Context(), metav1.ListOptions{})
		e.check(err)
		if len(list.Items) != want {
			t.Fatalf("%d secrets, want %d", len(list.Items), want)
		}
		for _, secret := range list.Items {
			if got := string(secret.Data["version"]); got != version {
				t.Fatalf("secret %s has version %s, want %s", secret.Name, got, version)
			}
		}
	}
	for i := range objects {
		obj := configMap(fmt.Sprintf("c%d", i))
		obj.Data = map[string]string{"version": "1"}
		e.createConfigMap(obj)
	}
	wantSecrets(objects, "1")
	for i := range objects {
		obj := configMap(fmt.Sprintf("c%d", i))
		obj.Data = map[string]string{"version": "2"}
		_, err := configMaps.Update(t.Context(), obj, metav1.UpdateOptions{})
		e.check(err)
	}
	wantSecrets(objects, "2")
	e.check(configMaps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	wantSecrets(0, "")
}
