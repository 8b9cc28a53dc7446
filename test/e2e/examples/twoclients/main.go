// Command twoclients updates one Node through a controller-runtime client and a clientset, and
// prints which copy of the Node is stale. A client writes the response of the server into the
// object that it was given; other copies keep their resourceVersion. Then it does the same with the
// cached client of controller-runtime, whose reads come from a watch.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/miniapi/miniapi"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	server, err := miniapi.Start(ctx, miniapi.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(ctx)) }()
	direct, err := client.New(server.RESTConfig(), client.Options{})
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		return err
	}
	fmt.Println("two clients, a copy each:")
	if err := twoCopies(ctx, direct, clientset); err != nil {
		return err
	}
	fmt.Println("a cached client:")
	return cached(ctx, server.RESTConfig(), clientset)
}

func twoCopies(ctx context.Context, direct client.Client, clientset kubernetes.Interface) error {
	a := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"zone": "none"}}}
	if err := direct.Create(ctx, a); err != nil {
		return err
	}
	b, err := clientset.CoreV1().Nodes().Get(ctx, "node-1", metav1.GetOptions{})
	if err != nil {
		return err
	}

	a.Labels["zone"] = "a"
	err = direct.Update(ctx, a) // a now has the new version, b does not know
	say("copy a, controller-runtime", err)

	metav1.SetMetaDataLabel(&b.ObjectMeta, "rack", "7")
	_, err = clientset.CoreV1().Nodes().Update(ctx, b, metav1.UpdateOptions{})
	say("copy b, clientset", err)

	// A clientset does not write into its argument: it returns a new object,
	// and the old one goes stale unless the answer is kept.
	_, err = clientset.CoreV1().Nodes().Update(ctx, labelled(a, "rack", "7"), metav1.UpdateOptions{})
	say("copy a's content, clientset", err)
	a.Labels["zone"] = "b"
	say("copy a again, controller-runtime", direct.Update(ctx, a))

	if err := direct.Get(ctx, client.ObjectKeyFromObject(a), a); err != nil {
		return err
	}
	a.Labels["zone"] = "b"
	say("copy a, read again", direct.Update(ctx, a))
	return nil
}

// cached reads from controller-runtime's cache what the watch has not brought
// yet, or has: the copy is stale until the watch catches up.
func cached(ctx context.Context, config *rest.Config, clientset kubernetes.Interface) error {
	ctx, stop := context.WithCancel(ctx)
	reads, err := cache.New(config, cache.Options{})
	if err != nil {
		stop()
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- reads.Start(ctx) }() // ends with stop, below
	defer func() { stop(); <-ended }()
	c, err := client.New(config, client.Options{Cache: &client.CacheOptions{Reader: reads}})
	if err != nil {
		return err
	}
	if !reads.WaitForCacheSync(ctx) { // true once the cache is started
		return errors.New("the cache did not start")
	}
	key := client.ObjectKey{Name: "node-1"}
	stale := &corev1.Node{}
	if err := c.Get(ctx, key, stale); err != nil {
		return err
	}
	latest, err := clientset.CoreV1().Nodes().Update(ctx, labelled(stale, "rack", "8"), metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	stale.Labels["zone"] = "c"
	say("a copy from the cache, after another client's write", c.Update(ctx, stale))

	fresh := &corev1.Node{}
	for fresh.ResourceVersion != latest.ResourceVersion { // the watch brings it
		if err := c.Get(ctx, key, fresh); err != nil {
			return err
		}
	}
	fresh.Labels["zone"] = "c"
	say("a copy from the cache, once it has caught up", c.Update(ctx, fresh))
	return nil
}

func labelled(node *corev1.Node, key, value string) *corev1.Node {
	node = node.DeepCopy()
	metav1.SetMetaDataLabel(&node.ObjectMeta, key, value)
	return node
}

func say(what string, err error) {
	switch {
	case err == nil:
		fmt.Printf("  %s: written\n", what)
	case apierrors.IsConflict(err):
		fmt.Printf("  %s: stale, conflict\n", what)
	default:
		fmt.Printf("  %s: %v\n", what, err)
	}
}
