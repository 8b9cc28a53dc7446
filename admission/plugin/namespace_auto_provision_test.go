package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
)

func configMapIn(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}}
}

func TestNamespaceAutoProvision(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"NamespaceAutoProvision"}})
	if _, failure := e.tryWith("configmaps", configMapIn("new"), dry()); failure != `namespaces "new" not found` {
		t.Errorf("a dry run: got %q", failure)
	}
	mustCreate(e, "configmaps", configMapIn("new"))
	namespace := e.Get("namespaces", "", "new").(*corev1.Namespace)
	if diff := cmp.Diff(map[string]string{"kubernetes.io/metadata.name": "new"}, namespace.Labels); diff != "" {
		t.Error(diff)
	}
	if namespace.Status.Phase != corev1.NamespaceActive {
		t.Errorf("phase %q", namespace.Status.Phase)
	}
	mustCreate(e, "configmaps", configMapIn("x"))
}

func TestNamespaceAutoProvisionFails(t *testing.T) {
	e := newKinds(t, plugin.Config{Enable: []string{"NamespaceAutoProvision"}})
	want := `configmaps "c" is forbidden: Namespace "X_Y" is invalid: metadata.name: Invalid value: "X_Y": a lowercase RFC 1123 label must ` +
		`consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character ` +
		`(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
	if _, failure := e.try("configmaps", configMapIn("X_Y")); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
}

func TestNamespaceAutoProvisionIgnores(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	step := plugin.NamespaceAutoProvision()
	for rule, a := range map[string]*registry.Attributes{
		"an update":   {Operation: registry.OperationUpdate, Resource: e.Store("configmaps").Resource(), Namespace: "absent"},
		"a deletion":  {Operation: registry.OperationDelete, Resource: e.Store("configmaps").Resource(), Namespace: "absent"},
		"a node":      {Operation: registry.OperationCreate, Resource: e.Store("nodes").Resource()},
		"a namespace": {Operation: registry.OperationCreate, Resource: e.Store("namespaces").Resource(), Namespace: "absent"},
	} {
		a.Catalog = e.Catalog
		if err := step.Admit(t.Context(), a); err != nil {
			t.Errorf("%s: %v", rule, err)
		}
	}
	if _, err := e.Store("namespaces").Get(t.Context(), "", "absent", ""); text(err) != `namespaces "absent" not found` {
		t.Errorf("the namespace: %v", err)
	}
}
