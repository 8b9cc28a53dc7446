// Package adoption_test uses miniapitest as a project on a pinned release of client-go does. The
// modules test/adoption/client-go-* link to this file.
package adoption_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"github.com/miniapi/miniapi/miniapitest"
)

// TestClientsInParallel runs a server per test. All tests use the same names of objects.
func TestClientsInParallel(t *testing.T) {
	for i := 0; i < 8; i++ {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			clientset, err := kubernetes.NewForConfig(miniapitest.Start(t, miniapitest.Options{}).RESTConfig())
			if err != nil {
				t.Fatal(err)
			}
			events := informerEvents(t, clientset)
			staleUpdateConflicts(t, clientset)
			for seen := range events {
				if seen.Data["n"] == "3" {
					return
				}
			}
			t.Error("the informer did not report the last update")
		})
	}
}

// informerEvents returns the ConfigMap named "mine" in each state that an informer reports. The
// channel is closed after a minute.
func informerEvents(t *testing.T, clientset *kubernetes.Clientset) <-chan *corev1.ConfigMap {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	events, ended := make(chan *corev1.ConfigMap), make(chan struct{})
	report := func(object interface{}) {
		select {
		case events <- object.(*corev1.ConfigMap):
		case <-ctx.Done():
		}
	}
	source := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", "default",
		fields.OneTermEqualSelector("metadata.name", "mine"))
	informer := cache.NewSharedInformer(source, &corev1.ConfigMap{}, 0)
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    report,
		UpdateFunc: func(_, object interface{}) { report(object) },
	}); err != nil {
		t.Fatal(err)
	}
	go func() { // ends in the cleanup
		informer.Run(ctx.Done())
		close(events) // Run returns when no handler runs
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return events
}

// staleUpdateConflicts updates a ConfigMap from an old copy, which must conflict, and retries it.
func staleUpdateConflicts(t *testing.T, clientset *kubernetes.Clientset) {
	t.Helper()
	ctx, configMaps := context.Background(), clientset.CoreV1().ConfigMaps("default")
	write := func(object *corev1.ConfigMap, n string) error {
		object.Data = map[string]string{"n": n}
		_, err := configMaps.Update(ctx, object, metav1.UpdateOptions{})
		return err
	}
	created, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(created.DeepCopy(), "2"); err != nil {
		t.Fatal(err)
	}
	if err := write(created, "3"); !apierrors.IsConflict(err) {
		t.Fatalf("update from a stale copy: %v, want a conflict", err)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		latest, err := configMaps.Get(ctx, "mine", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return write(latest, "3")
	})
	if err != nil {
		t.Fatal(err)
	}
}
