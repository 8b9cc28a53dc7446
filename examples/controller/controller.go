// Package controller is a small controller, and the same controller with the commonest mistakes.
// test/e2e/fault_suite_test.go shows by miniapitest.RunFaultSuite that it survives all failures,
// and which failures it does not survive with each mistake.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
)

// Controller copies the data of each ConfigMap with the annotation CopyTo into a Secret of that
// name, and then sets the annotation Copied of the ConfigMap to the hash of the data.
type Controller struct {
	client   kubernetes.Interface
	mistakes Mistakes
	queue    workqueue.TypedRateLimitingInterface[types.NamespacedName]
	sources  listers.ConfigMapLister
	// copies are the names of the Secrets that this process has created or found, by the UID of the
	// ConfigMap. Only the worker uses it.
	copies map[types.UID]string
}

// Mistakes are common mistakes. The zero value has none.
type Mistakes struct {
	// DropConflicts does not try again after a conflict.
	DropConflicts bool
	// BlindUpdates removes the resourceVersion from cached copies, so that their updates do not
	// conflict.
	BlindUpdates bool
	// FailOnExisting treats AlreadyExists as an error, also after a creation whose answer was lost.
	FailOnExisting bool
	// GeneratedNames gives the copies generated names, so that a creation whose answer was lost
	// makes a second one.
	GeneratedNames bool
}

// New returns a controller. It starts nothing.
func New(config *rest.Config, mistakes Mistakes) (*Controller, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Second)
	return &Controller{
		client: client, mistakes: mistakes, copies: map[types.UID]string{},
		queue: workqueue.NewTypedRateLimitingQueue(limiter),
	}, nil
}

var errNotLeading = errors.New("the controller has lost its Lease")

// Run runs the controller while it is the leader. It returns nil when ctx ends, and an error when
// the controller has lost its Lease.
func (c *Controller) Run(ctx context.Context) error {
	leading, stopped, worked := make(chan context.Context, 1), make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "copier"},
			Client:     c.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("copier-%p", c)},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 100 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { leading <- ctx }, // ctx ends with the Lease
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	go func() { // ends when the elector has stopped
		defer close(worked)
		select {
		case ctx := <-leading:
			c.work(ctx)
		case <-stopped:
		}
	}()
	elector.Run(ctx)
	close(stopped)
	<-worked
	if ctx.Err() == nil {
		return errNotLeading
	}
	return nil
}

// work copies ConfigMaps until ctx ends.
func (c *Controller) work(ctx context.Context) {
	factory := informers.NewSharedInformerFactory(c.client, 0)
	defer factory.Shutdown()
	sources := factory.Core().V1().ConfigMaps()
	c.sources = sources.Lister()
	_, _ = sources.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{ // fails for a stopped informer only
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	defer context.AfterFunc(ctx, c.queue.ShutDown)()
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		c.process(ctx, key)
	}
}

func (c *Controller) enqueue(obj any) {
	source := obj.(*corev1.ConfigMap)
	c.queue.Add(types.NamespacedName{Namespace: source.Namespace, Name: source.Name})
}

// process reconciles an object, and tries again later after an error.
func (c *Controller) process(ctx context.Context, key types.NamespacedName) {
	defer c.queue.Done(key)
	err := c.reconcile(ctx, key)
	if err == nil || c.mistakes.DropConflicts && apierrors.IsConflict(err) {
		c.queue.Forget(key)
		return
	}
	c.queue.AddRateLimited(key)
}
