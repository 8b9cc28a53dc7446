package match

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// Request is a write in the client's version. It is not safe for concurrent use.
type Request struct {
	*registry.Attributes
	// Target is the version that the client wrote in.
	Target
	// Namespace is the namespace of the request. For a namespace it is its own name.
	Namespace string

	others       []Target // nil before the first call of equivalents
	namespace    *corev1.Namespace
	namespaceErr error
}

// NewRequest returns the request of a write. It returns false for the configuration objects of
// webhooks and policies, because a webhook for them could block its own removal.
func NewRequest(attributes *registry.Attributes) (*Request, bool) {
	resource := attributes.Resource
	if exempt(resource) {
		return nil, false
	}
	version, ok := resource.Version(cmp.Or(attributes.Options.Version, resource.Versions[0].Name))
	if !ok {
		return nil, false
	}
	target, ok := newTarget(attributes.Resource, version, attributes.Subresource)
	if !ok {
		return nil, false
	}
	r := &Request{Attributes: attributes, Target: target, Namespace: attributes.Namespace}
	if r.IsNamespace() {
		r.Namespace = attributes.Name
	}
	return r, true
}

// exempt reports whether a kind configures webhooks or policies.
func exempt(r *registry.Resource) bool {
	if r.Group != "admissionregistration.k8s.io" {
		return false
	}
	switch r.Kind {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		return true
	}
	return false
}

// IsNamespace reports whether the object of the request is a namespace.
func (r *Request) IsNamespace() bool {
	return r.Attributes.Resource.GroupResource() == corev1.Resource("namespaces")
}

// equivalents returns the other versions in which the request can be shown.
func (r *Request) equivalents() []Target {
	if r.others != nil {
		return r.others
	}
	r.others = []Target{}
	for _, resource := range r.Catalog.Snapshot().Equivalents(r.Attributes.Resource) {
		for _, version := range resource.Versions {
			version = fromHubOf(r.Attributes.Resource, version)
			other, ok := newTarget(resource, version, r.Subresource)
			if ok && other.Resource != r.Target.Resource {
				r.others = append(r.others, other)
			}
		}
	}
	return r.others
}

// fromHubOf returns a version with its conversion from the hub of a resource. Each version of a
// custom resource has a different hub.
func fromHubOf(r *registry.Resource, version registry.Version) registry.Version {
	if r.Related == nil {
		return version
	}
	related := r.Related()
	i := slices.IndexFunc(related, func(other registry.Version) bool { return other.Name == version.Name })
	if i < 0 {
		return version
	}
	return related[i]
}

// SentOptions returns the options of the request as an object with its kind, or nil.
func (r *Request) SentOptions() runtime.Object {
	if r.Options.Sent == nil {
		return nil
	}
	kind := reflect.TypeOf(r.Options.Sent).Elem().Name()
	return ofKind(r.Options.Sent, metav1.SchemeGroupVersion.WithKind(kind))
}

// NamespaceObject returns the stored namespace of the request, nil if the request has none, and
// a 404 if the namespace does not exist.
func (r *Request) NamespaceObject(ctx context.Context) (*corev1.Namespace, error) {
	if r.Namespace == "" {
		return nil, nil
	}
	if r.namespace == nil && r.namespaceErr == nil {
		r.namespace, r.namespaceErr = readNamespace(ctx, r.Catalog, r.Namespace)
	}
	return r.namespace, r.namespaceErr
}

func readNamespace(ctx context.Context, lookup registry.Lookup, name string) (*corev1.Namespace, error) {
	namespaces := schema.GroupResource{Resource: "namespaces"}
	store, ok := lookup.Store(namespaces)
	if !ok {
		return nil, apierrors.NewNotFound(namespaces, name)
	}
	return registry.Read[*corev1.Namespace](ctx, store, "", name, "")
}

// ShownName returns the name of the object in errors. The object may have no name yet.
func ShownName(a *registry.Attributes) string {
	if a.Name != "" || a.Object == nil {
		return cmp.Or(a.Name, "Unknown")
	}
	accessor, err := meta.Accessor(a.Object)
	if err != nil {
		return "Unknown/errorGettingName"
	}
	return cmp.Or(accessor.GetName(), accessor.GetGenerateName(), "Unknown")
}
