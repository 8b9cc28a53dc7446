package bootstrap

import (
	"bytes"
	"compress/gzip"
	"embed"
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

	"github.com/miniapi/miniapi/kinds/feature"
)

// prepared has, for each release, a gzipped metav1.List of values in the protobuf envelope.
//
//go:embed objects-*.pb.gz
var prepared embed.FS

func preparedFile(release feature.Release) string { return fmt.Sprintf("objects-%s.pb.gz", release) }

// addPrepared adds the objects that are the same in every cluster.
func (c *collector) addPrepared(release feature.Release) {
	if c.err != nil {
		return
	}
	objects, err := unpackPrepared(release)
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
func (c *collector) addAccessRoles(release feature.Release) {
	if c.err != nil {
		return
	}
	load, _ := accessRoles.LoadOrStore(release, sync.OnceValues(func() ([]runtime.Object, error) {
		objects, err := unpackPrepared(release)
		return slices.DeleteFunc(objects, func(obj runtime.Object) bool { return !isAccessRole(obj) }), err
	}))
	objects, err := load.(func() ([]runtime.Object, error))()
	if err != nil {
		c.err = fmt.Errorf("prepared objects: %w", err)
		return
	}
	for _, obj := range objects {
		c.add(obj.DeepCopyObject())
	}
}

// accessRoles has a function for each release that returns the prepared objects of
// Config.AccessRoles. The process shares them. They must not be modified.
var accessRoles sync.Map

// isAccessRole reports whether an object is a role of users, of kube-controller-manager, of
// kube-scheduler or of aggregated API servers, or a default binding of such a role.
func isAccessRole(obj runtime.Object) bool {
	switch obj := obj.(type) {
	case *rbacv1.ClusterRole:
		return accessRoleNames[obj.Name]
	case *rbacv1.ClusterRoleBinding:
		return accessRoleNames[obj.Name]
	case *rbacv1.Role:
		return systemRoleNames[obj.Name]
	case *rbacv1.RoleBinding:
		return systemRoleNames[obj.RoleRef.Name]
	default:
		return false
	}
}

var accessRoleNames = map[string]bool{
	"cluster-admin": true, "admin": true, "edit": true, "view": true,
	"system:aggregate-to-admin": true, "system:aggregate-to-edit": true, "system:aggregate-to-view": true,
	"system:basic-user": true, "system:discovery": true, "system:public-info-viewer": true,
	"system:service-account-issuer-discovery": true, "system:cluster-trust-bundle-discovery": true,
	"system:auth-delegator":          true,
	"system:kube-controller-manager": true, "system:kube-scheduler": true, "system:volume-scheduler": true,
	// The built-in controller sends requests to aggregated API servers, which ask this server.
	"system:controller:namespace-controller": true,
}

// systemRoleNames are the access roles in the namespace kube-system.
var systemRoleNames = map[string]bool{
	"extension-apiserver-authentication-reader":      true,
	"system::leader-locking-kube-controller-manager": true,
	"system::leader-locking-kube-scheduler":          true,
}

func unpackPrepared(release feature.Release) ([]runtime.Object, error) {
	data, err := prepared.ReadFile(preparedFile(release))
	if err != nil {
		return nil, err
	}
	return unpack(data)
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
