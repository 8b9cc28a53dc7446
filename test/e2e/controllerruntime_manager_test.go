package e2e_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func newManager(t *testing.T, cfg *rest.Config, opts ctrl.Options) ctrl.Manager {
	t.Helper()
	opts.Logger = logr.Discard()
	opts.Metrics = metricsserver.Options{BindAddress: "0"}
	opts.Controller = config.Controller{SkipNameValidation: new(true)} // with -count=2 the name is used twice
	mgr, err := ctrl.NewManager(cfg, opts)
	check(t, err)
	return mgr
}

// observer is a typical controller. It adds a finalizer and writes the observed generation to the
// status.
type observer struct{ client.Client }

func (o observer) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	web := &appsv1.Deployment{}
	if err := o.Get(ctx, req.NamespacedName, web); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !web.DeletionTimestamp.IsZero() {
		controllerutil.RemoveFinalizer(web, finalizer)
		return ctrl.Result{}, ignoreConflict(o.Update(ctx, web))
	}
	if controllerutil.AddFinalizer(web, finalizer) {
		return ctrl.Result{}, ignoreConflict(o.Update(ctx, web))
	}
	web.Status.ObservedGeneration = web.Generation
	return ctrl.Result{}, ignoreConflict(o.Status().Update(ctx, web))
}

// ignoreConflict returns nil for a conflict. The cache was stale, and the event that updates it
// triggers another reconciliation.
func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func TestManagerReconciles(t *testing.T) {
	server, seen := servertest.Start(t, miniapi.Config{}), &wire{}
	mgr := newManager(t, seen.tap(server.RESTConfig()), ctrl.Options{})
	check(t, ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).Complete(observer{mgr.GetClient()}))
	background(t, mgr.Start)

	c := newClient(t, server)
	web := newDeployment("web")
	check(t, c.Create(t.Context(), web))
	observed := func(web *appsv1.Deployment) bool { return web.Status.ObservedGeneration == web.Generation }
	web = awaitDeployment(t, c, observed)
	before := web.DeepCopy()
	web.Spec.Replicas = new(int32(3))
	check(t, c.Patch(t.Context(), web, client.MergeFrom(before)))
	if web = awaitDeployment(t, c, observed); web.Generation != 2 || *web.Spec.Replicas != 3 {
		t.Errorf("observed is generation %d with %d replicas", web.Generation, *web.Spec.Replicas)
	}
	check(t, c.Delete(t.Context(), web))
	awaitDeployment(t, c, nil)

	requests, _ := seen.take()
	if !slices.ContainsFunc(requests, func(r string) bool { return strings.Contains(r, "sendInitialEvents=true") }) {
		t.Errorf("the manager's cache did not stream its list: %v", requests)
	}
}

// awaitDeployment watches until want returns true, or until the Deployment is deleted if want is
// nil.
func awaitDeployment(t *testing.T, c client.WithWatch, want func(*appsv1.Deployment) bool) *appsv1.Deployment {
	t.Helper()
	var list appsv1.DeploymentList
	check(t, c.List(t.Context(), &list))
	if len(list.Items) == 0 && want == nil {
		return nil
	}
	for i := range list.Items {
		if want != nil && want(&list.Items[i]) {
			return &list.Items[i]
		}
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
	events, err := c.Watch(t.Context(), &appsv1.DeploymentList{}, from)
	check(t, err)
	defer events.Stop()
	for {
		event := receive(t, events.ResultChan())
		web, ok := event.Object.(*appsv1.Deployment)
		if !ok {
			t.Fatalf("watched %+v", event)
		}
		if want == nil && event.Type == watch.Deleted || want != nil && want(web) {
			return web
		}
	}
}

func TestCachedClient(t *testing.T) {
	server, seen := servertest.Start(t, miniapi.Config{}), &wire{}
	mgr := newManager(t, seen.tap(server.RESTConfig()), ctrl.Options{})
	changes := make(chan string, 100)
	informer, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
	check(t, err)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { changes <- obj.(*corev1.ConfigMap).ResourceVersion },
		UpdateFunc: func(_, obj any) { changes <- obj.(*corev1.ConfigMap).ResourceVersion },
	})
	check(t, err)
	background(t, mgr.Start)
	c := mgr.GetClient()

	written := newConfigMap("a")
	check(t, c.Create(t.Context(), written))
	if got := receive(t, changes); got != written.ResourceVersion {
		t.Fatalf("the cache saw %s, written was %s", got, written.ResourceVersion)
	}
	seen.take()
	stale, key := &corev1.ConfigMap{}, client.ObjectKeyFromObject(written)
	check(t, c.Get(t.Context(), key, stale))
	if requests, _ := seen.take(); len(requests) > 0 {
		t.Errorf("a cached read sent requests: %v", requests)
	}
	written.Data["n"] = "1"
	check(t, c.Update(t.Context(), written))
	stale.Data["n"] = "2"
	if err := c.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("update of a stale cached copy: %v, want a conflict", err)
	}
	receive(t, changes)
	check(t, c.Get(t.Context(), key, stale))
	stale.Data["n"] = "2"
	check(t, c.Update(t.Context(), stale))
}

func TestLeaderElectionOfManagers(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	start := func(id string) (mgr ctrl.Manager, stop func()) {
		mgr = newManager(t, server.RESTConfig(), ctrl.Options{
			LeaderElection: true, LeaderElectionID: "example", LeaderElectionNamespace: namespace,
			LeaderElectionReleaseOnCancel: true,
			LeaseDuration:                 new(15 * time.Second), RenewDeadline: new(10 * time.Second), RetryPeriod: new(20 * time.Millisecond),
		})
		return mgr, background(t, mgr.Start)
	}
	first, stopFirst := start("first")
	<-first.Elected()
	second, _ := start("second")
	c := newClient(t, server)
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: namespace, Name: "example"}
	check(t, c.Get(t.Context(), key, lease))
	holder := *lease.Spec.HolderIdentity
	select {
	case <-second.Elected():
		t.Error("two leaders at once")
	default:
	}
	stopFirst()
	receiveClosed(t, second.Elected())
	check(t, c.Get(t.Context(), key, lease))
	if *lease.Spec.HolderIdentity == holder || *lease.Spec.LeaseTransitions == 0 {
		t.Errorf("the lease is still held by %s, after %d transitions", *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	}
}

func receiveClosed(t *testing.T, closed <-chan struct{}) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the channel was not closed in time")
	}
}
