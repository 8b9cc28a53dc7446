package e2e_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/miniapi/miniapi/examples/controller"
)

// cachedCopier is the controller of examples/controller with cached reads and events of its copies.
type cachedCopier struct{ client.Client }

func (c cachedCopier) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	source := &corev1.ConfigMap{}
	if err := c.Get(ctx, req.NamespacedName, source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if source.Annotations[controller.CopyTo] == "" {
		return ctrl.Result{}, nil
	}
	target := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Annotations[controller.CopyTo]}}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, target, func() error {
		target.Data = map[string][]byte{}
		for key, value := range source.Data {
			target.Data[key] = []byte(value)
		}
		return controllerutil.SetControllerReference(source, target, c.Scheme())
	})
	if err != nil || source.Annotations[controller.Copied] == controller.Hash(source.Data) {
		return ctrl.Result{}, err
	}
	before := source.DeepCopy()
	source.Annotations[controller.Copied] = controller.Hash(source.Data)
	return ctrl.Result{}, c.Patch(ctx, source, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// newCachedCopier returns a manager with the controller. Its renewals of the lease may take
// seconds, for example while the server restarts on a busy machine.
func newCachedCopier(t *testing.T, config *rest.Config) (run, converged func(context.Context) error) {
	t.Helper()
	mgr := newManager(t, config, ctrl.Options{
		LeaderElection: true, LeaderElectionID: "cached-copier", LeaderElectionNamespace: namespace,
		LeaseDuration: new(15 * time.Second), RenewDeadline: new(10 * time.Second), RetryPeriod: new(100 * time.Millisecond),
	})
	check(t, ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(cachedCopier{mgr.GetClient()}))
	direct, err := kubernetes.NewForConfig(config)
	check(t, err)
	return mgr.Start, func(ctx context.Context) error { return allCopied(ctx, direct) }
}

func TestFaultSuiteWithControllerRuntime(t *testing.T) {
	t.Parallel()
	programsDir(t)
	copierSuite.Run(t, newCachedCopier)
}
