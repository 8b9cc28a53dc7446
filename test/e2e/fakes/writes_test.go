package fakes_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// The second update discards the first one.
func TestStaleUpdate(t *testing.T) {
	clientGo(t, "the object has been modified", func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		mine, err := configMaps.Create(ctx, configMap("settings"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		theirs := mine.DeepCopy()
		theirs.Data = map[string]string{"color": "blue"}
		if _, err := configMaps.Update(ctx, theirs, metav1.UpdateOptions{}); err != nil {
			return err
		}
		mine.Data = map[string]string{"size": "big"}
		_, err = configMaps.Update(ctx, mine, metav1.UpdateOptions{})
		return err
	})
}

// The type of the strategy does not exist.
func TestInvalidObject(t *testing.T) {
	clientGo(t, "Unsupported value", func(ctx context.Context, client kubernetes.Interface) error {
		web := deployment("web")
		web.Spec.Strategy.Type = "BlueGreen"
		_, err := client.AppsV1().Deployments("default").Create(ctx, web, metav1.CreateOptions{})
		return err
	})
}

// Nothing creates the namespace.
func TestMissingNamespace(t *testing.T) {
	clientGo(t, `namespaces "team-a" not found`, func(ctx context.Context, client kubernetes.Interface) error {
		settings := configMap("settings")
		settings.Namespace = "team-a"
		_, err := client.CoreV1().ConfigMaps("team-a").Create(ctx, settings, metav1.CreateOptions{})
		return err
	})
}

// The generated name is in the answer, not in the object that was sent.
func TestGeneratedName(t *testing.T) {
	clientGo(t, "resource name may not be empty", func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		run := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-"}}
		if _, err := configMaps.Create(ctx, run, metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := configMaps.Get(ctx, run.Name, metav1.GetOptions{})
		return err
	})
}

// Update does not write the status; UpdateStatus does.
func TestStatusByUpdate(t *testing.T) {
	clientGo(t, "0 replicas", func(ctx context.Context, client kubernetes.Interface) error {
		deployments := client.AppsV1().Deployments("default")
		web, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		web.Status.Replicas = 1
		if _, err := deployments.Update(ctx, web, metav1.UpdateOptions{}); err != nil {
			return err
		}
		if web, err = deployments.Get(ctx, "web", metav1.GetOptions{}); err == nil && web.Status.Replicas != 1 {
			err = fmt.Errorf("the status has %d replicas", web.Status.Replicas)
		}
		return err
	})
}

// No code removes the finalizer.
func TestFinalizer(t *testing.T) {
	clientGo(t, "still exists", func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		settings := configMap("settings")
		settings.Finalizers = []string{"example.com/cleanup"}
		if _, err := configMaps.Create(ctx, settings, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := configMaps.Delete(ctx, "settings", metav1.DeleteOptions{}); err != nil {
			return err
		}
		if _, err := configMaps.Get(ctx, "settings", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the object still exists (%v)", err)
		}
		return nil
	})
}

// The UID is that of an earlier object of the same name.
func TestPrecondition(t *testing.T) {
	clientGo(t, "does not match the UID in record", func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		if _, err := configMaps.Create(ctx, configMap("settings"), metav1.CreateOptions{}); err != nil {
			return err
		}
		return configMaps.Delete(ctx, "settings", *metav1.NewPreconditionDeleteOptions("7b1f7a8e-earlier"))
	})
}

// StringData is write-only: the server moves it to Data.
func TestStringData(t *testing.T) {
	clientGo(t, "no password", func(ctx context.Context, client kubernetes.Interface) error {
		secrets := client.CoreV1().Secrets("default")
		login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{"password": "secret"}}
		if _, err := secrets.Create(ctx, login, metav1.CreateOptions{}); err != nil {
			return err
		}
		login, err := secrets.Get(ctx, "login", metav1.GetOptions{})
		if err == nil && login.StringData["password"] == "" {
			err = fmt.Errorf("no password in %v", login.StringData)
		}
		return err
	})
}

// The options select nothing, so all objects are deleted, those of others too.
func TestDeleteCollection(t *testing.T) {
	clientGo(t, `configmaps "theirs" not found`, func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		for _, name := range []string{"mine", "theirs"} {
			object := configMap(name)
			object.Labels["owner"] = name
			if _, err := configMaps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		if err := configMaps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return err
		}
		_, err := configMaps.Get(ctx, "theirs", metav1.GetOptions{})
		return err
	})
}

// The pod must not be evicted: its disruption budget allows no disruption.
// The test writes the status of the budget like the disruption controller: a budget that the
// controller has not observed makes the client repeat the eviction for minutes.
func TestEviction(t *testing.T) {
	clientGo(t, "would violate the pod's disruption budget", func(ctx context.Context, client kubernetes.Interface) error {
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		budget.Spec.MinAvailable = &intstr.IntOrString{IntVal: 1}
		budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		budgets := client.PolicyV1().PodDisruptionBudgets("default")
		budget, err := budgets.Create(ctx, budget, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, DesiredHealthy: 1, ExpectedPods: 1}
		if _, err := budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
			return err
		}
		pods := client.CoreV1().Pods("default")
		pod, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{"app": "web"}}, Spec: podSpec()}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		pod.Status.Phase = corev1.PodRunning
		if _, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return err
		}
		return pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}})
	})
}
