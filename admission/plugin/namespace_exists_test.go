package plugin_test

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
)

func TestNamespaceExists(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	reviews := &registry.Resource{Group: authorizationv1.GroupName, Name: "localsubjectaccessreviews"}
	configMaps := e.Store("configmaps").Resource()
	const missing = `namespaces "absent" not found`
	for _, tc := range []struct {
		rule      string
		operation registry.Operation
		resource  *registry.Resource
		namespace string
		want      string
	}{
		{"a creation", registry.OperationCreate, configMaps, "absent", missing},
		{"an update", registry.OperationUpdate, configMaps, "absent", missing},
		{"a deletion", registry.OperationDelete, configMaps, "absent", missing},
		{"a connection", registry.OperationConnect, configMaps, "absent", ""},
		{"a review", registry.OperationCreate, reviews, "absent", missing},
		{"a namespace", registry.OperationCreate, e.Store("namespaces").Resource(), "absent", ""},
		{"no namespace", registry.OperationCreate, e.Store("nodes").Resource(), "", ""},
		{"a namespace that exists", registry.OperationCreate, configMaps, "x", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			a := &registry.Attributes{Catalog: e.Catalog, Operation: tc.operation, Resource: tc.resource, Namespace: tc.namespace}
			if got := text(plugin.NamespaceExists().Validate(t.Context(), a)); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}
