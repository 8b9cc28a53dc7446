//go:build unix

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestClusterSurvivesItsLeader pauses the leader of three etcd members, resumes it, and then kills
// the leader, while clients write to two replicas. At the end both replicas and an informer have
// every acknowledged write.
func TestClusterSurvivesItsLeader(t *testing.T) {
	file := readCompose(t)
	places := newPlaces(t, file.named("etcd"))
	members := places.startEtcds(t, file)
	var replicas []*kubernetes.Clientset
	for _, name := range file.named("miniapi") {
		replicas = append(replicas, startMiniapi(t, places.here(name, file.Services[name].Command)).clientset(t))
	}
	informer := informers.NewSharedInformerFactory(replicas[1], 0)
	seen := informer.Core().V1().ConfigMaps().Lister()
	informer.Start(t.Context().Done())
	informer.WaitForCacheSync(t.Context().Done())

	writer := clusterWriter{T: t, replicas: replicas}
	writer.create(20)
	paused := members[leader(t, members)]
	check(t, paused.signal(syscall.SIGSTOP))
	writer.create(3) // every third request goes to the paused member until its keepalive fails
	check(t, paused.signal(syscall.SIGCONT))
	writer.create(20)
	killed := leader(t, members)
	members[killed].kill()
	writer.create(20)

	for i, replica := range replicas {
		var names []string
		for _, config := range writer.list(replica).Items {
			names = append(names, config.Name)
		}
		if missing := without(writer.acknowledged, names); len(missing) > 0 {
			t.Errorf("replica %d has lost %v", i, missing)
		}
	}
	for {
		var names []string
		configs, err := seen.ConfigMaps(namespace).List(labels.Everything())
		check(t, err)
		for _, config := range configs {
			names = append(names, config.Name)
		}
		missing := without(writer.acknowledged, names)
		if len(missing) == 0 {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("the informer did not receive %v", missing)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// clusterWriter creates objects through alternating replicas of a cluster.
type clusterWriter struct {
	*testing.T
	replicas []*kubernetes.Clientset
	// acknowledged holds the names of the objects whose creation succeeded.
	acknowledged []string
}

// create creates objects and retries each one at the other replica until it succeeds.
func (w *clusterWriter) create(count int) {
	w.Helper()
	deadline := time.Now().Add(4 * patience)
	for range count {
		name := fmt.Sprintf("written-%03d", len(w.acknowledged))
		for attempt := 0; !w.tryCreate(w.replicas[attempt%len(w.replicas)], name); attempt++ {
			if time.Now().After(deadline) {
				w.Fatalf("%s cannot be created", name)
			}
		}
		w.acknowledged = append(w.acknowledged, name)
	}
}

// list lists the objects and retries while a read fails.
func (w *clusterWriter) list(replica *kubernetes.Clientset) *corev1.ConfigMapList {
	w.Helper()
	for deadline := time.Now().Add(patience); ; {
		list, err := replica.CoreV1().ConfigMaps(namespace).List(w.Context(), metav1.ListOptions{})
		if err == nil {
			return list
		}
		if time.Now().After(deadline) {
			w.Fatal(err)
		}
	}
}

func (w *clusterWriter) tryCreate(replica *kubernetes.Clientset, name string) bool {
	ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
	defer cancel()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := replica.CoreV1().ConfigMaps(namespace).Create(ctx, config, metav1.CreateOptions{})
	return err == nil || apierrors.IsAlreadyExists(err)
}

// leader returns the client URL of the leader. It waits for the end of an election.
func leader(t *testing.T, members map[string]*process) string {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		for url := range members {
			if leads(t, url) {
				return url
			}
		}
	}
	t.Fatal("the cluster has no leader")
	return ""
}

// leads reports whether a member is the leader. It is false if the member does not answer.
func leads(t *testing.T, url string) bool {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}})
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	status, err := client.Status(ctx, url)
	check(t, client.Close())
	return err == nil && status.Leader == status.Header.MemberId
}

// without returns the names that are not in others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}
