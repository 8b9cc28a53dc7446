package fakes_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The name of the field is wrong: it is spec.nodeName.
func TestFieldSelector(t *testing.T) {
	clientGo(t, "field label not supported: spec.nodename", func(ctx context.Context, client kubernetes.Interface) error {
		pods := client.CoreV1().Pods("default")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Spec: podSpec()}
		pod.Spec.NodeName = "a"
		if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
		list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodename=a"})
		if err == nil && len(list.Items) != 1 {
			err = fmt.Errorf("%d pods, want 1", len(list.Items))
		}
		return err
	})
}

// The code reads the first page only.
func TestPages(t *testing.T) {
	clientGo(t, "2 of 3 objects", func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		for _, name := range []string{"a", "b", "c"} {
			if _, err := configMaps.Create(ctx, configMap(name), metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		list, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "app=demo", Limit: 2})
		if err == nil && len(list.Items) != 3 {
			err = fmt.Errorf("%d of 3 objects", len(list.Items))
		}
		return err
	})
}
