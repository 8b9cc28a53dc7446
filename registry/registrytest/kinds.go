package registrytest

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/registry"
)

// Resources returns the resources of this package. Each call returns new ones that a test may
// change.
func Resources() []*registry.Resource {
	return []*registry.Resource{ConfigMaps(), Pods(), Namespaces(), Events(), Leases(), Deployments()}
}

func resource(kind schema.GroupVersionKind, name string, newObject, newList func() runtime.Object) *registry.Resource {
	return &registry.Resource{
		Group: kind.Group, Name: name, Kind: kind.Kind, Namespaced: true, StoragePath: name,
		Versions: []registry.Version{{Name: kind.Version, New: newObject, NewList: newList}},
		Codec:    newCodec(kind),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{ValidateName: validation.NameIsDNSSubdomain},
			Update: registry.UpdateStrategy{AllowUnconditional: true},
		},
	}
}

// ConfigMaps returns a resource without rules of its own.
func ConfigMaps() *registry.Resource {
	return resource(corev1.SchemeGroupVersion.WithKind("ConfigMap"), "configmaps",
		func() runtime.Object { return &corev1.ConfigMap{} },
		func() runtime.Object { return &corev1.ConfigMapList{} })
}

// Leases returns a resource that an update may create, and whose updates require a
// resourceVersion.
func Leases() *registry.Resource {
	r := resource(coordinationv1.SchemeGroupVersion.WithKind("Lease"), "leases",
		func() runtime.Object { return &coordinationv1.Lease{} },
		func() runtime.Object { return &coordinationv1.LeaseList{} })
	r.Strategy.Update = registry.UpdateStrategy{AllowCreate: true}
	return r
}

// Events returns a resource with a time to live of an hour and without dependents.
func Events() *registry.Resource {
	r := resource(corev1.SchemeGroupVersion.WithKind("Event"), "events",
		func() runtime.Object { return &corev1.Event{} },
		func() runtime.Object { return &corev1.EventList{} })
	r.Strategy.TTL = func(runtime.Object, bool) int64 { return 3600 }
	r.Strategy.Delete.NoDependents = true
	return r
}

// Pods returns a resource with graceful deletion of pods on a node, and with the selectable field
// spec.nodeName.
func Pods() *registry.Resource {
	r := resource(corev1.SchemeGroupVersion.WithKind("Pod"), "pods",
		func() runtime.Object { return &corev1.Pod{} },
		func() runtime.Object { return &corev1.PodList{} })
	r.Fields = func(obj runtime.Object) fields.Set {
		return fields.Set{"spec.nodeName": obj.(*corev1.Pod).Spec.NodeName}
	}
	r.Strategy.Create.Prepare = func(_ context.Context, obj runtime.Object) { obj.(*corev1.Pod).Generation = 1 }
	r.Strategy.Delete.ReturnObject = true
	r.Strategy.Delete.GracePeriod = func(obj runtime.Object, opts *metav1.DeleteOptions) *int64 {
		period := int64(30)
		if opts.GracePeriodSeconds != nil {
			period = *opts.GracePeriodSeconds
		}
		if obj.(*corev1.Pod).Spec.NodeName == "" {
			period = 0
		}
		return &period
	}
	return r
}

// Namespaces returns a resource whose objects are kept by the finalizers in their spec.
func Namespaces() *registry.Resource {
	r := resource(corev1.SchemeGroupVersion.WithKind("Namespace"), "namespaces",
		func() runtime.Object { return &corev1.Namespace{} },
		func() runtime.Object { return &corev1.NamespaceList{} })
	r.Namespaced = false
	r.Strategy.Create.Prepare = func(_ context.Context, obj runtime.Object) {
		namespace := obj.(*corev1.Namespace)
		namespace.Status.Phase = corev1.NamespaceActive
		namespace.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	}
	r.Strategy.Update.Prepare = func(_ context.Context, obj, old runtime.Object) {
		obj.(*corev1.Namespace).Spec, obj.(*corev1.Namespace).Status = old.(*corev1.Namespace).Spec, old.(*corev1.Namespace).Status
	}
	r.Strategy.Delete.Holds = func(obj runtime.Object) bool { return len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 }
	r.Strategy.Delete.Mark = func(obj runtime.Object, _ *metav1.DeleteOptions) {
		obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
	}
	r.Subresources = []registry.Subresource{{Name: "finalize", Update: &registry.UpdateStrategy{
		AllowUnconditional: true,
		Prepare: func(_ context.Context, obj, old runtime.Object) {
			obj.(*corev1.Namespace).Status = old.(*corev1.Namespace).Status
		},
	}}}
	return r
}

// Deployments returns a resource with generations, a status and a scale.
func Deployments() *registry.Resource {
	r := resource(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments",
		func() runtime.Object { return &appsv1.Deployment{} },
		func() runtime.Object { return &appsv1.DeploymentList{} })
	r.Strategy.Create.Prepare = func(_ context.Context, obj runtime.Object) {
		d := obj.(*appsv1.Deployment)
		d.Status, d.Generation = appsv1.DeploymentStatus{}, 1
	}
	r.Strategy.Create.Validate = func(_ context.Context, obj runtime.Object) field.ErrorList { return negativeReplicas(obj) }
	r.Strategy.Update.Prepare = func(_ context.Context, obj, old runtime.Object) {
		d, stored := obj.(*appsv1.Deployment), old.(*appsv1.Deployment)
		d.Status = stored.Status
		if !equality.Semantic.DeepEqual(d.Spec, stored.Spec) {
			d.Generation = stored.Generation + 1
		}
	}
	r.Strategy.Update.Validate = func(_ context.Context, obj, _ runtime.Object) field.ErrorList { return negativeReplicas(obj) }
	r.Subresources = []registry.Subresource{deploymentStatus(), deploymentScale()}
	return r
}

func negativeReplicas(obj runtime.Object) field.ErrorList {
	replicas := obj.(*appsv1.Deployment).Spec.Replicas
	if replicas == nil {
		return nil
	}
	return validation.ValidateNonnegativeField(int64(*replicas), field.NewPath("spec", "replicas"))
}

func deploymentStatus() registry.Subresource {
	return registry.Subresource{Name: "status", Update: &registry.UpdateStrategy{
		AllowUnconditional: true,
		Prepare: func(_ context.Context, obj, old runtime.Object) {
			d, stored := obj.(*appsv1.Deployment), old.(*appsv1.Deployment)
			d.Spec, d.Labels = stored.Spec, stored.Labels
		},
		Owns: fieldpath.NewExcludeSetFilter(fieldpath.NewSet(
			fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))),
	}}
}

func deploymentScale() registry.Subresource {
	return registry.Subresource{
		Name: "scale",
		Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
		New:  func() runtime.Object { return &autoscalingv1.Scale{} },
		View: &registry.View{
			FromObject: scaleOf,
			ToObject: func(view, obj runtime.Object) error {
				obj.(*appsv1.Deployment).Spec.Replicas = &view.(*autoscalingv1.Scale).Spec.Replicas
				return nil
			},
			Validate: validateScale,
			Replicas: func(string) fieldpath.Path { return fieldpath.MakePathOrDie("spec", "replicas") },
		},
	}
}

func scaleOf(obj runtime.Object) (runtime.Object, error) {
	d := obj.(*appsv1.Deployment)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: d.Name, Namespace: d.Namespace, UID: d.UID, ResourceVersion: d.ResourceVersion, CreationTimestamp: d.CreationTimestamp,
	}}
	if d.Spec.Replicas != nil {
		scale.Spec.Replicas = *d.Spec.Replicas
	}
	return scale, nil
}

func validateScale(view runtime.Object) error {
	scale := view.(*autoscalingv1.Scale)
	errs := validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), scale.Name, slices.Clip(errs))
}
