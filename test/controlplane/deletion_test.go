package controlplane

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

var objects = flag.Int("objects", 100, "measure the deletion of `NUMBER` objects")

// TestDeletionTimes logs how long the built-in controllers and kube-controller-manager take to
// collect the dependents of an owner, and to delete a namespace with as many objects. The limit of
// the requests of kube-controller-manager is raised, because 20 a second would be measured.
func TestDeletionTimes(t *testing.T) {
	t.Run("built-in", func(t *testing.T) {
		newCluster(t, "--controllers=-*", "--controllers=*").measureDeletions(t)
	})
	t.Run("kube-controller-manager", func(t *testing.T) {
		c := newCluster(t, "", "")
		c.page.programs["kube-controller-manager"] += " --kube-api-qps 10000 --kube-api-burst 10000"
		c.startProgram("kube-controller-manager")
		c.eventually(t, "kube-controller-manager runs", "kubectl get serviceaccount default")
		c.measureDeletions(t)
	})
}

func (c *cluster) measureDeletions(t *testing.T) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(c.dir, "admin.kubeconfig"))
	check(t, err)
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	configMaps := client.CoreV1().ConfigMaps("default")
	owner, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	check(t, err)
	blocking := true
	createObjects(t, client, "default", []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID, BlockOwnerDeletion: &blocking},
	})
	foreground := metav1.DeletePropagationForeground
	events, err := configMaps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=owner"})
	check(t, err)
	began := time.Now()
	check(t, configMaps.Delete(t.Context(), "owner", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	awaitDeletion(t, events)
	t.Logf("collection of %d objects: %v", *objects, time.Since(began).Round(time.Millisecond))

	namespaces := client.CoreV1().Namespaces()
	_, err = namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "large"}}, metav1.CreateOptions{})
	check(t, err)
	createObjects(t, client, "large", nil)
	events, err = namespaces.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=large"})
	check(t, err)
	began = time.Now()
	check(t, namespaces.Delete(t.Context(), "large", metav1.DeleteOptions{}))
	awaitDeletion(t, events)
	t.Logf("deletion of a namespace with %d objects: %v", *objects, time.Since(began).Round(time.Millisecond))
}

func createObjects(t *testing.T, client kubernetes.Interface, namespace string, owners []metav1.OwnerReference) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for i := range *objects {
		group.Go(func() error {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", i), OwnerReferences: owners}}
			_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{})
			return err
		})
	}
	check(t, group.Wait())
}

func awaitDeletion(t *testing.T, events watch.Interface) {
	t.Helper()
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Deleted {
			return
		}
	}
	t.Fatal("the watch has ended")
}
