// Command retry shows five writers that add 1 to the same label. Without a retry all but one
// are rejected with a conflict; with retry.RetryOnConflict no increment is lost.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/util/retry"

	"github.com/miniapi/miniapi"
)

const (
	writers = 5
	label   = "biz-version"
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
	deployments := client.AppsV1().Deployments("default")

	fmt.Println("without retry:")
	if err := withoutRetry(ctx, deployments); err != nil {
		return err
	}
	fmt.Println("with RetryOnConflict:")
	return withRetry(ctx, deployments)
}

// withoutRetry makes all writers read the same version before any of them writes, so that all but
// one write a stale copy.
func withoutRetry(ctx context.Context, deployments appsclient.DeploymentInterface) error {
	if err := create(ctx, deployments, "plain"); err != nil {
		return err
	}
	var read sync.WaitGroup
	read.Add(writers)
	outcomes := inParallel(func() error {
		d, err := deployments.Get(ctx, "plain", metav1.GetOptions{})
		read.Done()
		if err != nil {
			return err
		}
		read.Wait()
		addOne(d)
		_, err = deployments.Update(ctx, d, metav1.UpdateOptions{})
		return err
	})
	var written, conflicts int
	for _, err := range outcomes {
		switch {
		case err == nil:
			written++
		case apierrors.IsConflict(err):
			if conflicts++; conflicts == 1 {
				fmt.Println(" ", err)
			}
		default:
			return err
		}
	}
	fmt.Printf("  %d written, %d conflicts\n", written, conflicts)
	return printLabel(ctx, deployments, "plain")
}

// withRetry repeats read and write after a conflict. A writer has at most one conflict with each of
// the others, so the five attempts of retry.DefaultRetry are enough.
func withRetry(ctx context.Context, deployments appsclient.DeploymentInterface) error {
	if err := create(ctx, deployments, "retried"); err != nil {
		return err
	}
	outcomes := inParallel(func() error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			d, err := deployments.Get(ctx, "retried", metav1.GetOptions{})
			if err != nil {
				return err
			}
			addOne(d)
			_, err = deployments.Update(ctx, d, metav1.UpdateOptions{})
			return err
		})
	})
	if err := errors.Join(outcomes...); err != nil {
		return err
	}
	fmt.Printf("  %d written, 0 conflicts left\n", writers)
	return printLabel(ctx, deployments, "retried")
}

func inParallel(write func() error) []error {
	outcomes := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { outcomes[i] = write() })
	}
	wg.Wait()
	return outcomes
}

func addOne(d *appsv1.Deployment) {
	n, _ := strconv.Atoi(d.Labels[label])
	d.Labels[label] = strconv.Itoa(n + 1)
}

func printLabel(ctx context.Context, deployments appsclient.DeploymentInterface, name string) error {
	d, err := deployments.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("  %s is %s\n", label, d.Labels[label])
	return nil
}

func create(ctx context.Context, deployments appsclient.DeploymentInterface, name string) error {
	app := map[string]string{"app": name}
	_, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: "101"}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{})
	return err
}
