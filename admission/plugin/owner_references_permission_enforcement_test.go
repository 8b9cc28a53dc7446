package plugin_test

import (
	"context"
	"slices"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// permissions are the allowed requests, as "VERB RESOURCE/SUBRESOURCE NAMESPACE/NAME".
type permissions struct {
	registry.Authorizer
	list []string
}

func (p permissions) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	r := access.Resource
	request := r.Verb + " " + r.Resource + "/" + r.Subresource + " " + r.Namespace + "/" + r.Name
	for _, permission := range p.list {
		if permission == request {
			return registry.Decision{Allowed: true}, nil
		}
	}
	return registry.Decision{Reason: "no " + request}, nil
}

// owner returns an owner reference; blocking sets blockOwnerDeletion.
func owner(apiVersion, kind, name string, blocking bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "owner", BlockOwnerDeletion: &blocking}
}

func TestOwnerReferencesPermissionEnforcement(t *testing.T) {
	type refs = []metav1.OwnerReference
	free, blocking := refs{owner("v1", "Pod", "p", false)}, refs{owner("v1", "Pod", "p", true)}
	node, unknown := refs{owner("v1", "Node", "n", true)}, refs{owner("example.com/v1", "Unknown", "u", true)}
	const (
		mayDelete  = "delete configmaps/ x/c"
		mayBlock   = "update pods/finalizers x/p"
		denied     = `configmaps "c" is forbidden: cannot set an ownerRef on a resource you can't delete: no delete configmaps/ x/c, <nil>`
		blockedFor = `configmaps "c" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no update `
	)
	for _, tc := range []struct {
		rule        string
		may         []string
		given       refs
		old         refs // nil for a creation without former owners
		update      bool
		subresource string
		want        string
	}{
		{rule: "a creation with an owner needs no permission", given: free},
		{rule: "a blocking owner does", given: blocking, want: blockedFor + "pods/finalizers x/p, <nil>"},
		{rule: "the permission for the finalizers of the owner", given: blocking, may: []string{mayBlock}},
		{rule: "the permission for all finalizers", given: blocking, may: []string{"update */finalizers /*"}},
		{rule: "an owner without a namespace", given: node, want: blockedFor + "nodes/finalizers /n, <nil>"},
		{rule: "an owner of an unknown kind", given: unknown, want: `configmaps "c" is forbidden: cannot set blockOwnerDeletion in this case because cannot find ` +
			`RESTMapping for APIVersion example.com/v1 Kind Unknown: no matches for kind "Unknown" in version "example.com/v1"`},
		{rule: "an owner of an unknown kind that does not block", given: refs{owner("example.com/v1", "Unknown", "u", false)}},
		{rule: "an owner of an aggregated server", given: refs{owner("metrics.example.com/v1", "Sample", "s", true)}, want: blockedFor + "samples/finalizers x/s, <nil>"},
		{rule: "an owner without a namespace of an aggregated server", given: refs{owner("metrics.example.com/v1", "Site", "s", true)},
			want: blockedFor + "sites/finalizers /s, <nil>"},
		{rule: "an owner of an unknown kind of an aggregated server", given: refs{owner("metrics.example.com/v1", "Unknown", "u", true)},
			want: `configmaps "c" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ` +
				`metrics.example.com/v1 Kind Unknown: no matches for kind "Unknown" in version "metrics.example.com/v1"`},
		{rule: "an update that keeps the owners", given: blocking, old: blocking, update: true},
		{rule: "an update that adds an owner", given: free, update: true, want: denied},
		{rule: "an update that removes an owner", old: free, update: true, want: denied},
		{rule: "an update by a user who may delete the object", given: free, update: true, may: []string{mayDelete}},
		{rule: "an update that makes an owner blocking", given: blocking, old: free, update: true, may: []string{mayDelete}, want: blockedFor + "pods/finalizers x/p, <nil>"},
		{rule: "an update that ends blocking", given: free, old: blocking, update: true, may: []string{mayDelete}},
		{rule: "an update of a subresource", given: free, update: true, subresource: "status", may: []string{mayDelete},
			want: `configmaps "c" is forbidden: cannot set an ownerRef on a resource you can't delete: no delete configmaps/status x/c, <nil>`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			a := ownedAttributes(t, permissions{list: tc.may})
			a.Subresource, a.Object = tc.subresource, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: tc.given}}
			if tc.update {
				a.Operation, a.OldObject = registry.OperationUpdate, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: tc.old}}
			}
			ctx := registry.WithUser(t.Context(), &authenticationv1.UserInfo{Username: "jane"})
			if got := text(plugin.OwnerReferencesPermissionEnforcement().Validate(ctx, a)); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// versions collects the versions of the authorized requests.
type versions struct {
	registry.Authorizer
	list []string
}

func (v *versions) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	v.list = append(v.list, access.Resource.Version)
	return registry.Decision{Allowed: true}, nil
}

func TestDeletionByOwnerChangeHasTheVersionOfTheRequest(t *testing.T) {
	var authorized versions
	a := ownedAttributes(t, &authorized)
	a.Operation, a.OldObject = registry.OperationUpdate, &corev1.ConfigMap{}
	a.Object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner("v1", "Pod", "p", false)}}}
	ctx := registry.WithUser(t.Context(), &authenticationv1.UserInfo{Username: "jane"})
	for _, version := range []string{"", "v2"} {
		a.Options.Version = version
		if err := plugin.OwnerReferencesPermissionEnforcement().Validate(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"v1", "v2"}; !slices.Equal(authorized.list, want) {
		t.Errorf("got %q, want %q", authorized.list, want)
	}
}

// ownedAttributes returns the attributes of the creation of a ConfigMap, on a server with an
// authorizer and an aggregated group.
func ownedAttributes(t *testing.T, authorizer registry.Authorizer) *registry.Attributes {
	t.Helper()
	e := newKinds(t, plugin.Config{})
	catalog := registry.NewCatalog(registry.CatalogConfig{Authorizer: authorizer, Storage: e.Catalog.Storage})
	if err := catalog.Add(kinds.Resources(feature.Default())...); err != nil {
		t.Fatal(err)
	}
	gv := schema.GroupVersion{Group: "metrics.example.com", Version: "v1"}
	catalog.SetRemotes([]*registry.Remote{{GroupVersion: gv, Resources: []apidiscoveryv2.APIResourceDiscovery{
		{Resource: "samples", ResponseKind: &metav1.GroupVersionKind{Kind: "Sample"}, Scope: apidiscoveryv2.ScopeNamespace},
		{Resource: "sites", ResponseKind: &metav1.GroupVersionKind{Kind: "Site"}, Scope: apidiscoveryv2.ScopeCluster},
	}}})
	return &registry.Attributes{
		Catalog: catalog, Operation: registry.OperationCreate, Resource: e.Store("configmaps").Resource(), Namespace: "x", Name: "c",
	}
}

func TestOwnersOfPodStatusAndOfReviewsAreIgnored(t *testing.T) {
	owned := metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner("v1", "Pod", "p", true)}}
	status := ownedAttributes(t, permissions{})
	status.Operation, status.Resource, status.Subresource = registry.OperationUpdate, registrytest.Pods(), "status"
	status.Object, status.OldObject = &corev1.Pod{ObjectMeta: owned}, &corev1.Pod{}
	connect := ownedAttributes(t, permissions{})
	connect.Operation, connect.Object = registry.OperationConnect, &corev1.ConfigMap{ObjectMeta: owned}
	without := ownedAttributes(t, permissions{})
	without.Object = runtime.Object(&metav1.Status{})
	ctx := registry.WithUser(t.Context(), &authenticationv1.UserInfo{Username: "jane"})
	for rule, a := range map[string]*registry.Attributes{"the status of a pod": status, "a connection": connect, "an object without metadata": without} {
		if err := plugin.OwnerReferencesPermissionEnforcement().Validate(ctx, a); err != nil {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
