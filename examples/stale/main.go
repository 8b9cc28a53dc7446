// Command stale annotates a Pod from a stale copy, which causes a conflict, and in two ways that do
// not: with a read inside retry.RetryOnConflict, and with a patch.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"

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
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods("default")

	mine, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := annotate(ctx, pods, "theirs"); err != nil {
		return err
	}

	// mine has the resourceVersion from before the other write.
	metav1.SetMetaDataAnnotation(&mine.ObjectMeta, "mine", "true")
	_, err = pods.Update(ctx, mine, metav1.UpdateOptions{})
	fmt.Println("stale copy:       ", err)

	err = retry.RetryOnConflict(retry.DefaultRetry, func() error { return annotate(ctx, pods, "mine") })
	fmt.Println("read-modify-write:", err)

	// A patch has no resourceVersion: it applies to the latest version.
	patch := []byte(`{"metadata":{"annotations":{"patched":"true"}}}`)
	latest, err := pods.Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{})
	fmt.Println("patch:            ", err)
	if err != nil {
		return err
	}
	fmt.Println("annotations:      ", slices.Sorted(maps.Keys(latest.Annotations)))
	return nil
}

func annotate(ctx context.Context, pods coreclient.PodInterface, key string) error {
	pod, err := pods.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, "true")
	_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	return err
}
