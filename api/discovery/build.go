package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// discovery holds the discovery documents of a catalog.
//
// Invariant: it is immutable.
type discovery struct {
	// groupList and groups do not contain the legacy group, which has no name.
	groupList *encoding.CachedObject
	groups    map[string]*encoding.CachedObject
	resources map[schema.GroupVersion]*encoding.CachedObject
	// builtIn contains the built-in groups.
	builtIn map[string]bool
	// legacyVersions are the versions of the legacy group.
	legacyVersions []string
	// legacy and named are the aggregated documents of /api and /apis.
	legacy, named *aggregatedDiscovery
}

func buildDiscovery(c content) *discovery {
	d := &discovery{
		groups:    map[string]*encoding.CachedObject{},
		resources: map[schema.GroupVersion]*encoding.CachedObject{},
		builtIn:   map[string]bool{"": true},
	}
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	var legacy, named []apidiscoveryv2.APIGroupDiscovery
	resources := c.byGroupVersion()
	for _, g := range c.groups {
		group := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.Name}}
		for _, version := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: version}
			if remote, ok := c.remotes[gv]; ok {
				group.Versions = append(group.Versions, remoteVersion(remote))
				continue
			}
			version, list := discoverVersion(gv, resources[gv], c.config.Scheme)
			group.Versions = append(group.Versions, version)
			d.resources[gv] = encoding.NewCachedObject(list)
		}
		d.builtIn[g.Name] = !g.Custom
		if g.Name == "" {
			legacy = append(legacy, group)
			d.legacyVersions = g.Versions
			continue
		}
		named = append(named, group)
		list.Groups = append(list.Groups, legacyGroup(g))
		d.groups[g.Name] = encoding.NewCachedObject(withGroupHeader(legacyGroup(g)))
	}
	d.groupList = encoding.NewCachedObject(list)
	d.legacy, d.named = newAggregatedDiscovery(legacy), newAggregatedDiscovery(named)
	return d
}

// remoteVersion describes a group version of another server, which itself serves its list of
// resources.
func remoteVersion(r *registry.Remote) apidiscoveryv2.APIVersionDiscovery {
	version := apidiscoveryv2.APIVersionDiscovery{
		Version: r.Version, Resources: r.Resources, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
	}
	if r.Stale {
		version.Freshness = apidiscoveryv2.DiscoveryFreshnessStale
	}
	return version
}

func withGroupHeader(group metav1.APIGroup) *metav1.APIGroup {
	group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	return &group
}

func legacyGroup(g registry.Group) metav1.APIGroup {
	group := metav1.APIGroup{Name: g.Name}
	for _, version := range g.Versions {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{
			GroupVersion: schema.GroupVersion{Group: g.Name, Version: version}.String(),
			Version:      version,
		})
	}
	group.PreferredVersion = group.Versions[0]
	return group
}

// discoverVersion describes one group version, aggregated and legacy.
func discoverVersion(gv schema.GroupVersion, resources []*registry.Resource, scheme *runtime.Scheme) (apidiscoveryv2.APIVersionDiscovery, *metav1.APIResourceList) {
	version := apidiscoveryv2.APIVersionDiscovery{Version: gv.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(),
	}
	if gv.Group == "" {
		// kube-apiserver sends the lists of the legacy group without apiVersion.
		list.APIVersion = ""
	}
	for _, r := range resources {
		resource := discoverResource(r, gv)
		version.Resources = append(version.Resources, resource)
		list.APIResources = append(list.APIResources, legacyResources(resource, storageVersionHash(r, scheme))...)
	}
	return version, list
}

// byGroupVersion returns the resources of each group version, sorted by name.
func (c content) byGroupVersion() map[schema.GroupVersion][]*registry.Resource {
	served := map[schema.GroupVersion][]*registry.Resource{}
	for _, r := range c.resources {
		for _, v := range r.Versions {
			gv := schema.GroupVersion{Group: r.Group, Version: v.Name}
			served[gv] = append(served[gv], r)
		}
	}
	for _, resources := range served {
		slices.SortFunc(resources, func(a, b *registry.Resource) int { return strings.Compare(a.Name, b.Name) })
	}
	return served
}

func discoverResource(r *registry.Resource, gv schema.GroupVersion) apidiscoveryv2.APIResourceDiscovery {
	resource := apidiscoveryv2.APIResourceDiscovery{
		Resource:         r.Name,
		ResponseKind:     responseKind(r, r.Kind, gv),
		Scope:            apidiscoveryv2.ScopeCluster,
		SingularResource: r.Singular,
		Verbs:            r.Verbs,
		ShortNames:       r.ShortNames,
		Categories:       r.Categories,
	}
	if r.Namespaced {
		resource.Scope = apidiscoveryv2.ScopeNamespace
	}
	for _, sub := range r.Subresources {
		resource.Subresources = append(resource.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource:  sub.Name,
			ResponseKind: subresourceKind(r, sub, gv),
			Verbs:        sub.Verbs,
		})
	}
	if r.Custom { // its subresources stay in the order of their definition
		return resource
	}
	slices.SortFunc(resource.Subresources, func(a, b apidiscoveryv2.APISubresourceDiscovery) int {
		return strings.Compare(a.Subresource, b.Subresource)
	})
	return resource
}

// responseKind returns a kind of group version gv. As in kube-apiserver, built-in kinds have
// neither group nor version.
func responseKind(r *registry.Resource, kind string, gv schema.GroupVersion) *metav1.GroupVersionKind {
	if !r.Custom {
		return &metav1.GroupVersionKind{Kind: kind}
	}
	return &metav1.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: kind}
}

func subresourceKind(r *registry.Resource, sub registry.Subresource, gv schema.GroupVersion) *metav1.GroupVersionKind {
	if sub.Kind.Empty() || sub.Kind.GroupVersion() == gv {
		return responseKind(r, cmp.Or(sub.Kind.Kind, r.Kind), gv)
	}
	kind := metav1.GroupVersionKind(sub.Kind)
	return &kind
}

// legacyResources returns a resource and its subresources for an APIResourceList.
func legacyResources(resource apidiscoveryv2.APIResourceDiscovery, hash string) []metav1.APIResource {
	namespaced := resource.Scope == apidiscoveryv2.ScopeNamespace
	list := []metav1.APIResource{{
		Name:               resource.Resource,
		SingularName:       resource.SingularResource,
		Namespaced:         namespaced,
		Kind:               resource.ResponseKind.Kind,
		Verbs:              resource.Verbs,
		ShortNames:         resource.ShortNames,
		Categories:         resource.Categories,
		StorageVersionHash: hash,
	}}
	for _, sub := range resource.Subresources {
		item := metav1.APIResource{
			Name:       resource.Resource + "/" + sub.Subresource,
			Namespaced: namespaced,
			Kind:       sub.ResponseKind.Kind,
			Verbs:      sub.Verbs,
		}
		if kind := resource.ResponseKind; sub.ResponseKind.Group != kind.Group || sub.ResponseKind.Version != kind.Version {
			item.Group, item.Version = sub.ResponseKind.Group, sub.ResponseKind.Version
		}
		list = append(list, item)
	}
	return list
}

// storageVersionHash returns a hash of the version in which a resource is stored, or "" for a
// virtual resource. Clients compare hashes to detect a change of the version.
func storageVersionHash(r *registry.Resource, scheme *runtime.Scheme) string {
	if r.Virtual != nil {
		return ""
	}
	gvk := hubKind(r, scheme)
	sum := sha256.Sum256([]byte(gvk.Group + "/" + gvk.Version + "/" + gvk.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// hubKind returns the kind in which the objects of a resource are stored.
func hubKind(r *registry.Resource, scheme *runtime.Scheme) schema.GroupVersionKind {
	if r.StorageVersion != "" {
		return r.GroupKind().WithVersion(r.StorageVersion)
	}
	version := r.Versions[0]
	for _, v := range r.Versions {
		if v.ToHub == nil {
			version = v
		}
	}
	kind := r.GroupKind().WithVersion(version.Name)
	hub := version.New()
	if version.ToHub != nil {
		converted, err := version.ToHub(hub)
		if err != nil {
			return kind
		}
		hub = converted
	}
	kinds, _, err := scheme.ObjectKinds(hub)
	if err != nil || len(kinds) == 0 {
		return kind
	}
	return kinds[0]
}
