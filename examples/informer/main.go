// Command informer watches a Deployment. Every change arrives in order, with an increasing
// resourceVersion. A change of the spec increments generation, a change of the metadata does not.
// The status subresource sets observedGeneration, as a controller does.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"

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

	seen := make(chan *appsv1.Deployment, 16)
	stop, err := watch(ctx, client, seen)
	if err != nil {
		return err
	}
	defer stop()

	writes, err := writeAll(ctx, client.AppsV1().Deployments("default"))
	if err != nil {
		return err
	}
	return report(seen, writes)
}

// watch starts an informer and sends every state that it receives.
func watch(ctx context.Context, client kubernetes.Interface, seen chan<- *appsv1.Deployment) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Apps().V1().Deployments().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { seen <- obj.(*appsv1.Deployment) },
		UpdateFunc: func(_, obj any) { seen <- obj.(*appsv1.Deployment) },
	})
	stop = func() {
		cancel()
		factory.Shutdown()
	}
	if err != nil {
		stop()
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return stop, nil
}

// writeAll makes the changes and returns a description of each, in order.
func writeAll(ctx context.Context, deployments appsclient.DeploymentInterface) ([]string, error) {
	d, err := deployments.Create(ctx, newDeployment(), metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	writes := []string{"created"}
	steps := []struct {
		name   string
		change func(*appsv1.Deployment)
		update func(context.Context, *appsv1.Deployment, metav1.UpdateOptions) (*appsv1.Deployment, error)
	}{
		{"status written", func(d *appsv1.Deployment) { d.Status.ObservedGeneration = d.Generation }, deployments.UpdateStatus},
		{"scaled to 3", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(3)) }, deployments.Update},
		{"labelled", func(d *appsv1.Deployment) { d.Labels = map[string]string{"team": "a"} }, deployments.Update},
		{"status written", func(d *appsv1.Deployment) { d.Status.ObservedGeneration = d.Generation }, deployments.UpdateStatus},
	}
	for _, step := range steps {
		step.change(d)
		if d, err = step.update(ctx, d, metav1.UpdateOptions{}); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
		writes = append(writes, step.name)
	}
	return writes, nil
}

func report(seen <-chan *appsv1.Deployment, writes []string) error {
	last := uint64(0)
	for _, write := range writes {
		d := <-seen
		version, err := strconv.ParseUint(d.ResourceVersion, 10, 64)
		if err != nil {
			return err
		}
		fmt.Printf("%-15s generation %d, observed %d, resourceVersion rose: %t\n",
			write, d.Generation, d.Status.ObservedGeneration, version > last)
		last = version
	}
	return nil
}

func newDeployment() *appsv1.Deployment {
	app := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}
}
