package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func newClientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(config)
	check(t, err)
	return clientset
}

func TestDynamicClient(t *testing.T) {
	client, err := dynamic.NewForConfig(servertest.Start(t, miniapi.Config{}).RESTConfig())
	check(t, err)
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(namespace)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newDeployment("web"))
	check(t, err)
	content["apiVersion"], content["kind"] = "apps/v1", "Deployment"
	web, err := deployments.Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	check(t, err)
	stale := web.DeepCopy()
	check(t, unstructured.SetNestedField(web.Object, int64(3), "spec", "replicas"))
	web, err = deployments.Update(t.Context(), web, metav1.UpdateOptions{})
	check(t, err)
	if web.GetGeneration() != 2 {
		t.Errorf("generation is %d after a change of the spec", web.GetGeneration())
	}
	if _, err := deployments.Update(t.Context(), stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update of a stale copy: %v, want a conflict", err)
	}
	_, err = deployments.Patch(t.Context(), "web", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/replicas","value":5}]`), metav1.PatchOptions{}, "scale")
	check(t, err)
	web, err = deployments.Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	if replicas, _, _ := unstructured.NestedInt64(web.Object, "spec", "replicas"); replicas != 5 {
		t.Errorf("%d replicas after a patch of the scale", replicas)
	}
	check(t, deployments.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=web"}))
	if _, err := deployments.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v, want not found", err)
	}
}

func TestMetadataClient(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	written, err := newClientset(t, server.RESTConfig()).CoreV1().ConfigMaps(namespace).Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
	check(t, err)
	client, err := metadata.NewForConfig(server.RESTConfig())
	check(t, err)
	configMaps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(namespace)
	list, err := configMaps.List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 1 || list.Items[0].UID != written.UID {
		t.Fatalf("listed %v", list.Items)
	}
	patched, err := configMaps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"k":"v"}}}`), metav1.PatchOptions{})
	check(t, err)
	if patched.Labels["k"] != "v" || patched.ResourceVersion == written.ResourceVersion {
		t.Errorf("patched is %+v", patched.ObjectMeta)
	}
}

func TestDiscovery(t *testing.T) {
	seen := &wire{}
	client, err := discovery.NewDiscoveryClientForConfig(seen.tap(servertest.Start(t, miniapi.Config{}).RESTConfig()))
	check(t, err)
	cached := memory.NewMemCacheClient(client)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	for short, want := range map[string]schema.GroupVersionKind{
		"deploy": {Group: "apps", Version: "v1", Kind: "Deployment"},
		"cm":     {Version: "v1", Kind: "ConfigMap"},
		"hpa":    {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
		"events": {Version: "v1", Kind: "Event"},
	} {
		kind, err := mapper.KindFor(schema.GroupVersionResource{Resource: short})
		check(t, err)
		if kind != want {
			t.Errorf("%s is %v, want %v", short, kind, want)
		}
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Kind: "Node"}, "v1")
	check(t, err)
	if mapping.Scope.Name() != "root" || mapping.Resource.Resource != "nodes" {
		t.Errorf("Node maps to %+v", mapping)
	}
	if requests, _ := seen.take(); len(requests) != 2 { // aggregated: /api and /apis
		t.Errorf("discovery took %v", requests)
	}
	version, err := client.ServerVersion()
	check(t, err)
	if version.Major != "1" || version.Minor == "" {
		t.Errorf("version is %+v", version)
	}
}

func TestEventRecorder(t *testing.T) {
	clientset := newClientset(t, servertest.Start(t, miniapi.Config{}).RESTConfig())
	config, err := clientset.CoreV1().ConfigMaps(namespace).Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
	check(t, err)
	watching, err := clientset.EventsV1().Events(namespace).Watch(t.Context(), metav1.ListOptions{FieldSelector: "reason=Tested"})
	check(t, err)
	defer watching.Stop()
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: clientset.EventsV1()})
	ctx, cancel := context.WithCancel(t.Context())
	check(t, broadcaster.StartRecordingToSinkWithContext(ctx))
	defer func() { cancel(); broadcaster.Shutdown() }()
	recorder := broadcaster.NewRecorder(scheme.Scheme, "tester")
	recorder.Eventf(config, nil, corev1.EventTypeNormal, "Tested", "Test", "it %s", "works")
	receive(t, watching.ResultChan())
	list, err := clientset.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(config.UID)})
	check(t, err)
	if len(list.Items) != 1 || list.Items[0].Message != "it works" || list.Items[0].ReportingController != "tester" {
		t.Errorf("recorded %+v", list.Items)
	}
}

func TestLeaderElection(t *testing.T) {
	clientset := newClientset(t, servertest.Start(t, miniapi.Config{}).RESTConfig())
	leads := make(chan string, 2)
	run := func(id string) (stop func()) {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: "example"},
				Client:    clientset.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: id},
			},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 20 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- id },
				OnStoppedLeading: func() {},
			},
		})
		check(t, err)
		return background(t, func(ctx context.Context) error { elector.Run(ctx); return nil })
	}
	stop := run("first")
	if id := receive(t, leads); id != "first" {
		t.Fatalf("%s leads", id)
	}
	run("second")
	stop()
	if id := receive(t, leads); id != "second" {
		t.Fatalf("%s leads after the first leader stopped", id)
	}
}

func TestPagerReadsOneRevision(t *testing.T) {
	const count, page = 1000, 100
	clientset := newClientset(t, servertest.Start(t, miniapi.Config{}).RESTConfig())
	createMany(t, clientset, count)
	configMaps := clientset.CoreV1().ConfigMaps(namespace)
	pages, seen := 0, map[string]int{}
	lister := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		pages++
		// Objects created after the first page do not appear on later pages.
		if pages == 2 {
			check(t, configMaps.Delete(ctx, manyName(count-1), metav1.DeleteOptions{}))
			_, err := configMaps.Create(ctx, newConfigMap("many-later"), metav1.CreateOptions{})
			check(t, err)
		}
		list, err := configMaps.List(ctx, opts)
		if err == nil && list.RemainingItemCount != nil && *list.RemainingItemCount != int64(count-pages*page) {
			t.Errorf("after page %d, %d remain", pages, *list.RemainingItemCount)
		}
		return list, err
	})
	lister.PageSize, lister.PageBufferSize = page, 0
	check(t, lister.EachListItem(t.Context(), metav1.ListOptions{}, func(obj runtime.Object) error {
		seen[obj.(*corev1.ConfigMap).Name]++
		return nil
	}))
	if pages != count/page || len(seen) != count || seen["many-later"] > 0 {
		t.Errorf("%d pages with %d names", pages, len(seen))
	}
}

func TestRetryOnConflictLosesNoUpdate(t *testing.T) {
	const writers, rounds = 8, 25
	configMaps := newClientset(t, servertest.Start(t, miniapi.Config{}).RESTConfig()).CoreV1().ConfigMaps(namespace)
	_, err := configMaps.Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
	check(t, err)
	patient := retry.DefaultRetry
	patient.Steps = 1000
	add := func() error {
		return retry.RetryOnConflict(patient, func() error {
			config, err := configMaps.Get(t.Context(), "a", metav1.GetOptions{})
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(config.Data["n"])
			if err != nil {
				return err
			}
			config.Data["n"] = strconv.Itoa(n + 1)
			_, err = configMaps.Update(t.Context(), config, metav1.UpdateOptions{})
			return err
		})
	}
	check(t, parallel(writers, writers*rounds, func(int) error { return add() }))
	config, err := configMaps.Get(t.Context(), "a", metav1.GetOptions{})
	check(t, err)
	if config.Data["n"] != strconv.Itoa(writers*rounds) {
		t.Errorf("the sum of %d additions is %s", writers*rounds, config.Data["n"])
	}
}

func manyName(i int) string { return fmt.Sprintf("many-%05d", i) }

func createMany(t *testing.T, clientset kubernetes.Interface, count int) {
	t.Helper()
	check(t, parallel(16, count, func(i int) error {
		_, err := clientset.CoreV1().ConfigMaps(namespace).Create(t.Context(), newConfigMap(manyName(i)), metav1.CreateOptions{})
		return err
	}))
}

// parallel calls f with 0 to count-1 on several goroutines and waits for them.
func parallel(workers, count int, f func(i int) error) error {
	var group sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		group.Go(func() {
			for i := w; i < count && errs[w] == nil; i += workers {
				errs[w] = f(i)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
