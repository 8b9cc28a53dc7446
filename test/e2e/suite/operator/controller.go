package operator

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Finalizer keeps a Mirror until its copies are gone.
const Finalizer = "optics.example.org/copies"

// mirrorLabel names, on a copy, the Mirror it belongs to.
const mirrorLabel = "optics.example.org/mirror"

// MirrorReconciler makes the copies that Mirrors ask for.
type MirrorReconciler struct {
	client.Client
}

// SetupWithManager adds the controller to a manager.
func (r *MirrorReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&Mirror{}).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{SkipNameValidation: new(true)}). // a process of tests has several managers
		Complete(r)
}

// Reconcile one Mirror.
func (r *MirrorReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	mirror := &Mirror{}
	if err := r.Get(ctx, req.NamespacedName, mirror); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if mirror.DeletionTimestamp != nil {
		return ctrl.Result{}, r.cleanUp(ctx, mirror)
	}
	if controllerutil.AddFinalizer(mirror, Finalizer) {
		return ctrl.Result{}, r.Update(ctx, mirror) // whose event comes next
	}
	if err := r.keep(ctx, mirror, *mirror.Spec.Copies); err != nil {
		return ctrl.Result{}, err
	}
	mirror.Status.Copies, mirror.Status.ObservedGeneration = *mirror.Spec.Copies, mirror.Generation
	meta.SetStatusCondition(&mirror.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Copied", ObservedGeneration: mirror.Generation,
	})
	return ctrl.Result{}, r.Status().Update(ctx, mirror)
}

// cleanUp takes the copies away, and then lets the Mirror go.
func (r *MirrorReconciler) cleanUp(ctx context.Context, mirror *Mirror) error {
	if err := r.keep(ctx, mirror, 0); err != nil {
		return err
	}
	if controllerutil.RemoveFinalizer(mirror, Finalizer) {
		return r.Update(ctx, mirror)
	}
	return nil
}

// keep makes the first so many copies, and deletes all others.
func (r *MirrorReconciler) keep(ctx context.Context, mirror *Mirror, copies int) error {
	wanted := map[string]bool{}
	for i := range copies {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: mirror.Namespace, Name: fmt.Sprintf("%s-%d", mirror.Name, i)}}
		wanted[configMap.Name] = true
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, configMap, func() error {
			configMap.Labels = map[string]string{mirrorLabel: mirror.Name}
			configMap.Data = map[string]string{"text": mirror.Spec.Text}
			return controllerutil.SetControllerReference(mirror, configMap, r.Scheme())
		})
		if err != nil {
			return err
		}
	}
	var there corev1.ConfigMapList
	if err := r.List(ctx, &there, client.InNamespace(mirror.Namespace), client.MatchingLabels{mirrorLabel: mirror.Name}); err != nil {
		return err
	}
	var errs []error
	for i := range there.Items {
		if !wanted[there.Items[i].Name] {
			errs = append(errs, client.IgnoreNotFound(r.Delete(ctx, &there.Items[i])))
		}
	}
	return errors.Join(errs...)
}
