package registrytest

import (
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Namespace is the namespace of the objects of this package.
const Namespace = "x"

// Meta returns the metadata of an object, for reading and writing.
func Meta(obj runtime.Object) metav1.Object {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		panic("registrytest: " + err.Error())
	}
	return accessor
}

// Object returns the object of an entry, which must be decodable, and nil without an entry.
func Object(entry *storage.Entry) runtime.Object {
	if entry == nil {
		return nil
	}
	obj, err := entry.Object()
	if err != nil {
		panic("registrytest: " + err.Error())
	}
	return obj
}

// Change returns a changed copy of an object.
func Change[T runtime.Object](obj T, change func(T)) T {
	out := obj.DeepCopyObject().(T)
	change(out)
	return out
}

// NewConfigMap returns a ConfigMap.
func NewConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
}

// NewDeployment returns a Deployment with one replica.
func NewDeployment(name string) *appsv1.Deployment {
	replicas := int32(1)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
	}
}

// NewPod returns a Pod on a node, or without a node for "".
func NewPod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// NewNamespace returns a Namespace.
func NewNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// NewLease returns a Lease.
func NewLease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
}

// NewEvent returns an Event.
func NewEvent(name string) *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
}
