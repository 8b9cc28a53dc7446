package miniapi

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/registry"
)

// objectRef names an object, as in the subcommands: TYPE/NAME, or TYPE/NAMESPACE/NAME.
type objectRef struct{ kind, namespace, name string }

func parseObjectRef(text string) (objectRef, error) {
	parts := strings.Split(text, "/")
	if slices.Contains(parts, "") || len(parts) != 2 && len(parts) != 3 {
		return objectRef{}, fmt.Errorf("%q does not name an object: use TYPE/NAME or TYPE/NAMESPACE/NAME, such as deploy/web", text)
	}
	if len(parts) == 2 {
		return objectRef{kind: parts[0], name: parts[1]}, nil
	}
	return objectRef{parts[0], parts[1], parts[2]}, nil
}

// resolve returns the implementation of the resource, and the request for the object. The type is a
// plural or singular name, a short name or a kind, also with the group, such as deployments.apps.
func (o objectRef) resolve(catalog *registry.Snapshot) (registry.Interface, registry.ListRequest, error) {
	kind, group, hasGroup := strings.Cut(strings.ToLower(o.kind), ".")
	for _, r := range catalog.Resources() {
		named := r.Name == kind || r.Singular == kind || strings.ToLower(r.Kind) == kind || slices.Contains(r.ShortNames, kind)
		if !named || hasGroup && r.Group != group {
			continue
		}
		request := registry.ListRequest{Namespace: o.namespace, Field: fields.OneTermEqualSelector(metav1.ObjectNameField, o.name)}
		switch {
		case r.Namespaced && o.namespace == "":
			request.Namespace = metav1.NamespaceDefault
		case !r.Namespaced && o.namespace != "":
			return nil, request, fmt.Errorf("%s have no namespace: use %s/%s", r.Name, o.kind, o.name)
		}
		served, _ := catalog.Served(r.GroupResource().WithVersion(r.Versions[0].Name))
		return served, request, nil
	}
	return nil, registry.ListRequest{}, fmt.Errorf("the server has no resource type %q", o.kind)
}
