package bootstrap

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// prepared is a gzipped metav1.List of values in the protobuf envelope.
//
//go:embed objects.pb.gz
var prepared []byte

// addPrepared adds the objects that are the same in every cluster.
func (c *collector) addPrepared() {
	if c.err != nil {
		return
	}
	objects, err := unpack(prepared)
	if err != nil {
		c.err = fmt.Errorf("prepared objects: %w", err)
		return
	}
	for _, obj := range objects {
		c.setTimes(obj)
		c.add(obj)
	}
}

// addAccessRoles adds the prepared objects of Config.AccessRoles.
func (c *collector) addAccessRoles() {
	if c.err != nil {
		return
	}
	objects, err := accessRoles()
	if err != nil {
		c.err = fmt.Errorf("prepared objects: %w", err)
		return
	}
	for _, obj := range objects {
		c.add(obj.DeepCopyObject())
	}
}

// accessRoles returns the prepared objects of Config.AccessRoles. The process shares them. They
// must not be modified.
var accessRoles = sync.OnceValues(func() ([]runtime.Object, error) {
	objects, err := unpack(prepared)
	return slices.DeleteFunc(objects, func(obj runtime.Object) bool { return !isAccessRole(obj) }), err
})

func isAccessRole(obj runtime.Object) bool {
	var name string
	switch obj := obj.(type) {
	case *rbacv1.ClusterRole:
		name = obj.Name
	case *rbacv1.ClusterRoleBinding:
		name = obj.Name
	}
	switch name {
	case "cluster-admin", "admin", "edit", "view",
		"system:aggregate-to-admin", "system:aggregate-to-edit", "system:aggregate-to-view",
		"system:basic-user", "system:discovery", "system:public-info-viewer",
		"system:service-account-issuer-discovery":
		return true
	}
	return false
}

func unpack(data []byte) ([]runtime.Object, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	var list metav1.List
	if err := list.Unmarshal(data); err != nil {
		return nil, err
	}
	objects := make([]runtime.Object, len(list.Items))
	for i, item := range list.Items {
		if objects[i], err = decode(item.Raw); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// decode decodes a value with the codec of the kind in its envelope.
func decode(value []byte) (runtime.Object, error) {
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(bytes.TrimPrefix(value, []byte("k8s\x00"))); err != nil {
		return nil, err
	}
	kind := schema.FromAPIVersionAndKind(unknown.APIVersion, unknown.Kind)
	resource, err := resourceOfKind(kind.GroupKind())
	if err != nil {
		return nil, err
	}
	return resource.Codec.Decode(value)
}

// setTimes sets the times of objects outside of their metadata.
func (c *collector) setTimes(obj runtime.Object) {
	switch obj := obj.(type) {
	case *corev1.ConfigMap:
		obj.Data["since"] = c.now.UTC().Format(time.DateOnly)
	case *flowcontrolv1.FlowSchema:
		for i := range obj.Status.Conditions {
			obj.Status.Conditions[i].LastTransitionTime = c.now
		}
	case *apiregistrationv1.APIService:
		for i := range obj.Status.Conditions {
			obj.Status.Conditions[i].LastTransitionTime = c.now
		}
	}
}
