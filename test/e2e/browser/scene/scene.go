// Package scene fills a server with objects, conflicts and clients that the page shows.
package scene

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Client returns a client with a user agent.
func Client(config *rest.Config, agent string) (*kubernetes.Clientset, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = agent
	config.WarningHandler = rest.NoWarnings{}
	return kubernetes.NewForConfig(config)
}

// Play creates Deployments, and for the Deployment shop/web a history with two conflicts between
// clients, a finalizer, a deletion and a new creation.
func Play(ctx context.Context, config *rest.Config) error {
	var clients [4]*kubernetes.Clientset
	for i, agent := range []string{"kubectl-create/v1.33", "deploy-bot/2.1", "autoscaler/1.8", "auditor/1.0"} {
		var err error
		if clients[i], err = Client(config, agent); err != nil {
			return err
		}
	}
	create, bot, scaler, auditor := clients[0], clients[1], clients[2], clients[3]
	steps := []func() error{
		func() error { return namespaces(ctx, create, "shop", "billing") },
		func() error { return deployments(ctx, create) },
		func() error { return edits(ctx, bot, scaler) },
		func() error { return deletion(ctx, create, auditor) },
		func() error { return edits(ctx, bot, scaler) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func namespaces(ctx context.Context, c *kubernetes.Clientset, names ...string) error {
	for _, name := range names {
		if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func deployments(ctx context.Context, c *kubernetes.Clientset) error {
	for namespace, names := range map[string][]string{"shop": {"api", "cart", "checkout", "search", "web"}, "billing": {"invoices", "ledger"}} {
		for _, name := range names {
			if err := createDeployment(ctx, c, namespace, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func createDeployment(ctx context.Context, c *kubernetes.Clientset, namespace, name string) error {
	labels := map[string]string{"app": name}
	replicas := int32(2)
	created, err := c.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "registry.example/" + name + ":1.0"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2}
	_, err = c.AppsV1().Deployments(namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{FieldManager: "deployment-controller"})
	return err
}

// edits lets two clients change shop/web on the same base: the second one loses and tries again.
func edits(ctx context.Context, bot, scaler *kubernetes.Clientset) error {
	read, err := bot.AppsV1().Deployments("shop").Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for i, image := range []string{"1.1", "1.2"} {
		stale := read.DeepCopy()
		latest := read.DeepCopy()
		latest.Spec.Template.Spec.Containers[0].Image = "registry.example/web:" + image
		latest.Labels["version"] = image
		if read, err = bot.AppsV1().Deployments("shop").Update(ctx, latest, metav1.UpdateOptions{}); err != nil {
			return err
		}
		replicas := int32(4 + i)
		stale.Spec.Replicas, stale.Labels["version"] = &replicas, "scaled"
		if _, err := scaler.AppsV1().Deployments("shop").Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return fmt.Errorf("a stale update: %w", errors.Join(err, errors.New("no conflict")))
		}
		retry := read.DeepCopy()
		retry.Spec.Replicas = &replicas
		if read, err = scaler.AppsV1().Deployments("shop").Update(ctx, retry, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// deletion deletes shop/web with a finalizer of the auditor, and creates it again.
func deletion(ctx context.Context, c, auditor *kubernetes.Clientset) error {
	patch := func(finalizers string) error {
		_, err := auditor.AppsV1().Deployments("shop").Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
		return err
	}
	if err := patch(`["example.com/audit"]`); err != nil {
		return err
	}
	if err := c.AppsV1().Deployments("shop").Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := patch(`null`); err != nil {
		return err
	}
	return createDeployment(ctx, c, "shop", "web")
}

// Traffic sends requests of some clients at a changing rate until ctx ends.
func Traffic(ctx context.Context, config *rest.Config) error {
	var clients [2]*kubernetes.Clientset
	for i, agent := range []string{"deploy-bot/2.1", "autoscaler/1.8"} {
		var err error
		if clients[i], err = Client(config, agent); err != nil {
			return err
		}
	}
	for i := 0; ; i++ {
		pause := time.Duration(12+9*math.Sin(float64(i)/150)) * time.Millisecond
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		_, err := clients[i%2].AppsV1().Deployments("shop").Get(ctx, "cart", metav1.GetOptions{})
		if i%3 == 0 && err == nil {
			_, err = clients[1].AppsV1().Deployments("shop").List(ctx, metav1.ListOptions{})
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}
