package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

const namespace = "default"

func ownerRef(owner *corev1.ConfigMap) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}
}

func blocking(owner *corev1.ConfigMap) metav1.OwnerReference {
	ref := ownerRef(owner)
	ref.BlockOwnerDeletion = new(true)
	return ref
}

func ownedBy(refs ...metav1.OwnerReference) func(*corev1.ConfigMap) {
	return func(c *corev1.ConfigMap) { c.OwnerReferences = append(c.OwnerReferences, refs...) }
}

func (e *env) deleteConfigMap(name string, policy metav1.DeletionPropagation) {
	e.Helper()
	e.check(e.client.CoreV1().ConfigMaps(namespace).Delete(e.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
}

func (e *env) configMap(name string) (*corev1.ConfigMap, bool) {
	e.Helper()
	m, err := e.client.CoreV1().ConfigMaps(namespace).Get(e.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, false
	}
	e.check(err)
	return m, true
}

func (e *env) awaitGone(names ...string) {
	e.Helper()
	for _, name := range names {
		e.await("the end of "+name, func(context.Context) bool {
			_, exists := e.configMap(name)
			return !exists
		})
	}
}

// awaitOwners waits until an object has these owners.
func (e *env) awaitOwners(name string, owners ...*corev1.ConfigMap) {
	e.Helper()
	e.await("the owners of "+name, func(context.Context) bool {
		m, exists := e.configMap(name)
		if !exists {
			e.Fatalf("%s is gone", name)
		}
		if len(m.OwnerReferences) != len(owners) {
			return false
		}
		for i, owner := range owners {
			if m.OwnerReferences[i].UID != owner.UID {
				return false
			}
		}
		return true
	})
}

// flush waits until the collector has processed all earlier changes: it collects an object that is
// created now.
func (e *env) flush() {
	e.Helper()
	for i := range 20 { // more than there are workers
		e.createConfigMap(namespace, fmt.Sprintf("flush-%d", i), ownedBy(ownerRef(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "none", UID: "none"}})))
	}
	for i := range 20 {
		e.awaitGone(fmt.Sprintf("flush-%d", i))
	}
}

func (e *env) wantPresent(names ...string) {
	e.Helper()
	for _, name := range names {
		if m, exists := e.configMap(name); !exists || m.DeletionTimestamp != nil {
			e.Errorf("%s is deleted", name)
		}
	}
}

func TestBackgroundDeletionCollectsDependents(t *testing.T) {
	e := start(t, miniapi.Config{})
	owner := e.createConfigMap(namespace, "owner")
	child := e.createConfigMap(namespace, "child", ownedBy(ownerRef(owner)))
	e.createConfigMap(namespace, "grandchild", ownedBy(ownerRef(child)))
	e.createConfigMap(namespace, "other")
	e.flush()
	e.wantPresent("owner", "child", "grandchild")
	e.deleteConfigMap("owner", metav1.DeletePropagationBackground)
	e.awaitGone("owner", "child", "grandchild")
	e.wantPresent("other")
}

func TestOrphaningReleasesDependents(t *testing.T) {
	e := start(t, miniapi.Config{})
	owner := e.createConfigMap(namespace, "owner")
	other := e.createConfigMap(namespace, "other")
	e.createConfigMap(namespace, "a", ownedBy(blocking(owner)))
	e.createConfigMap(namespace, "b", ownedBy(ownerRef(owner), ownerRef(other)))
	e.deleteConfigMap("owner", metav1.DeletePropagationOrphan)
	e.awaitGone("owner")
	e.awaitOwners("a")
	e.awaitOwners("b", other)
	e.flush()
	e.wantPresent("a", "b")
}

// The owner stays until its blocking dependents are gone. A dependent that does not block may stay
// longer.
func TestForegroundDeletionWaitsForBlockingDependents(t *testing.T) {
	e := start(t, miniapi.Config{})
	owner := e.createConfigMap(namespace, "owner")
	e.createConfigMap(namespace, "blocking", ownedBy(blocking(owner)), withFinalizer("example.com/hold"))
	e.createConfigMap(namespace, "free", ownedBy(ownerRef(owner)), withFinalizer("example.com/hold"))
	e.deleteConfigMap("owner", metav1.DeletePropagationForeground)
	for _, name := range []string{"blocking", "free"} {
		e.await("the deletion of "+name, func(context.Context) bool {
			m, exists := e.configMap(name)
			return exists && m.DeletionTimestamp != nil
		})
	}
	e.flush()
	if _, exists := e.configMap("owner"); !exists {
		t.Error("the owner is gone before its blocking dependent")
	}
	e.patchConfigMap(namespace, "blocking", `{"metadata":{"finalizers":null}}`)
	e.awaitGone("blocking", "owner")
	if _, exists := e.configMap("free"); !exists {
		t.Error("the dependent with a finalizer is gone")
	}
	e.patchConfigMap(namespace, "free", `{"metadata":{"finalizers":null}}`)
	e.awaitGone("free")
}

// A dependent with dependents of its own is deleted in the foreground too.
func TestForegroundDeletionReachesGrandchildren(t *testing.T) {
	e := start(t, miniapi.Config{})
	owner := e.createConfigMap(namespace, "owner")
	child := e.createConfigMap(namespace, "child", ownedBy(blocking(owner)))
	e.createConfigMap(namespace, "grandchild", ownedBy(blocking(child)), withFinalizer("example.com/hold"))
	e.deleteConfigMap("owner", metav1.DeletePropagationForeground)
	e.await("the deletion of the child in the foreground", func(context.Context) bool {
		m, exists := e.configMap("child")
		return exists && m.DeletionTimestamp != nil && m.Finalizers[0] == metav1.FinalizerDeleteDependents
	})
	e.await("the deletion of the grandchild", func(context.Context) bool {
		m, exists := e.configMap("grandchild")
		return exists && m.DeletionTimestamp != nil
	})
	e.patchConfigMap(namespace, "grandchild", `{"metadata":{"finalizers":null}}`)
	e.awaitGone("grandchild", "child", "owner")
}

// A dependent that stops blocking releases its owner.
func TestForegroundDeletionEndsWhenADependentUnblocks(t *testing.T) {
	e := start(t, miniapi.Config{})
	owner := e.createConfigMap(namespace, "owner")
	e.createConfigMap(namespace, "child", ownedBy(blocking(owner)), withFinalizer("example.com/hold"))
	e.deleteConfigMap("owner", metav1.DeletePropagationForeground)
	e.flush()
	if _, exists := e.configMap("owner"); !exists {
		t.Fatal("the owner is gone")
	}
	e.patchConfigMap(namespace, "child", `{"metadata":{"ownerReferences":null}}`)
	e.awaitGone("owner")
}

func TestCyclesAreCollected(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			e := start(t, miniapi.Config{})
			a := e.createConfigMap(namespace, "a")
			b := e.createConfigMap(namespace, "b", ownedBy(blocking(a)))
			c := e.createConfigMap(namespace, "c", ownedBy(blocking(b)))
			e.patchConfigMap(namespace, "a", fmt.Sprintf(
				`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":%q,"blockOwnerDeletion":true}]}}`, c.UID))
			e.flush()
			e.wantPresent("a", "b", "c")
			e.deleteConfigMap("a", policy)
			e.awaitGone("a", "b", "c")
		})
	}
}

func TestAbsentOwners(t *testing.T) {
	e := start(t, miniapi.Config{})
	owner := e.createConfigMap(namespace, "owner")
	otherUID, otherName := ownerRef(owner), ownerRef(owner)
	otherUID.UID, otherName.Name = "another", "absent"
	e.createConfigMap(namespace, "uid", ownedBy(otherUID))
	e.createConfigMap(namespace, "name", ownedBy(otherName))
	e.awaitGone("uid", "name")
	e.createConfigMap(namespace, "both", ownedBy(otherUID, ownerRef(owner)))
	e.awaitOwners("both", owner)
	e.wantPresent("owner")
}

// An object is collected with its last owner. Before, only the references are removed.
func TestSeveralOwners(t *testing.T) {
	e := start(t, miniapi.Config{})
	first, second := e.createConfigMap(namespace, "first"), e.createConfigMap(namespace, "second")
	e.createConfigMap(namespace, "child", ownedBy(blocking(first), ownerRef(second)))
	e.deleteConfigMap("first", metav1.DeletePropagationForeground)
	e.awaitGone("first")
	e.awaitOwners("child", second)
	e.wantPresent("child")
	e.deleteConfigMap("second", metav1.DeletePropagationBackground)
	e.awaitGone("child")
}

// An owner in another namespace is no owner. The Event is that of kube-controller-manager.
func TestOwnerInAnotherNamespace(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("far")
	owner := e.createConfigMap("far", "owner")
	child := e.createConfigMap(namespace, "child", ownedBy(ownerRef(owner)))
	e.awaitGone("child")
	want := fmt.Sprintf("ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: %s] does not exist in namespace \"default\"", owner.UID)
	e.awaitEvent(child.UID, want)
}

func (e *env) awaitEvent(about types.UID, message string) {
	e.Helper()
	e.await("an Event", func(ctx context.Context) bool {
		events, err := e.client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
		e.check(err)
		for _, event := range events.Items {
			if event.InvolvedObject.UID != about {
				continue
			}
			if event.Reason != "OwnerRefInvalidNamespace" || event.Message != message || event.Source.Component != "garbage-collector-controller" {
				e.Errorf("event %q %q from %q, want %q", event.Reason, event.Message, event.Source.Component, message)
			}
			return true
		}
		return false
	})
}

// An owner of cluster scope may own objects in namespaces. The reverse is invalid, and the
// dependent stays.
func TestOwnersAndScopes(t *testing.T) {
	e := start(t, miniapi.Config{})
	role, err := e.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	e.check(err)
	e.createConfigMap(namespace, "child", ownedBy(metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: role.Name, UID: role.UID}))
	owner := e.createConfigMap(namespace, "owner")
	_, err = e.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "invalid", OwnerReferences: []metav1.OwnerReference{ownerRef(owner)}},
	}, metav1.CreateOptions{})
	e.check(err)
	e.flush()
	e.wantPresent("child")
	e.check(e.client.RbacV1().ClusterRoles().Delete(t.Context(), "owner", metav1.DeleteOptions{}))
	e.deleteConfigMap("owner", metav1.DeletePropagationBackground)
	e.awaitGone("child", "owner")
	e.flush()
	_, err = e.client.RbacV1().ClusterRoles().Get(t.Context(), "invalid", metav1.GetOptions{})
	e.check(err)
}

// The collector continues with the state of the data directory. It knows all dependents of an owner
// before it orphans them.
func TestRestartContinuesTheCollection(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir()}
	off := config
	off.Controllers = []string{"*", "-garbagecollector"}
	e := start(t, off)
	owners := map[string]*corev1.ConfigMap{}
	for _, name := range []string{"background", "foreground", "orphan"} {
		owners[name] = e.createConfigMap(namespace, name)
		e.createConfigMap(namespace, name+"-child", ownedBy(blocking(owners[name])))
	}
	for i := range 200 {
		e.createConfigMap(namespace, fmt.Sprintf("orphan-child-%d", i), ownedBy(ownerRef(owners["orphan"])))
	}
	e.deleteConfigMap("background", metav1.DeletePropagationBackground)
	e.deleteConfigMap("foreground", metav1.DeletePropagationForeground)
	e.deleteConfigMap("orphan", metav1.DeletePropagationOrphan)
	for _, name := range []string{"foreground", "orphan"} {
		if _, exists := e.configMap(name); !exists {
			t.Errorf("%s is gone without a collector", name)
		}
	}
	e.stop()
	e = start(t, config)
	e.awaitGone("background-child", "foreground", "foreground-child", "orphan")
	e.awaitOwners("orphan-child")
	for i := range 200 {
		e.awaitOwners(fmt.Sprintf("orphan-child-%d", i))
	}
}

func TestOwnerOfAThousandDependents(t *testing.T) {
	e := start(t, miniapi.Config{})
	owner := e.createConfigMap(namespace, "owner")
	for i := range 1000 {
		e.createConfigMap(namespace, fmt.Sprintf("child-%d", i), ownedBy(blocking(owner)))
	}
	e.deleteConfigMap("owner", metav1.DeletePropagationForeground)
	e.awaitGone("owner")
	maps, err := e.client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	e.check(err)
	for _, m := range maps.Items {
		if strings.HasPrefix(m.Name, "child-") {
			t.Fatalf("%d objects are left", len(maps.Items))
		}
	}
}

// Both servers of an etcd run their controllers.
func TestTwoServersOnOneEtcd(t *testing.T) {
	first := start(t, miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:0"}})
	second := start(t, miniapi.Config{EtcdServers: first.server.EtcdClientURLs()})
	owner := first.createConfigMap(namespace, "owner")
	for i := range 50 {
		second.createConfigMap(namespace, fmt.Sprintf("child-%d", i), ownedBy(blocking(owner)))
	}
	second.createNamespace("n")
	for i := range 50 {
		first.createConfigMap("n", fmt.Sprintf("m%d", i))
	}
	first.deleteConfigMap("owner", metav1.DeletePropagationForeground)
	second.deleteNamespace("n")
	first.awaitNamespaceGone("n")
	second.awaitNamespaceGone("n")
	first.awaitGone("owner")
	for i := range 50 {
		second.awaitGone(fmt.Sprintf("child-%d", i))
	}
}
