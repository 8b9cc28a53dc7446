package kinds_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// The types below are a part of aggregated discovery: the fields that kinds determine.

type discoveryGroup struct {
	Metadata struct{ Name string }
	Versions []discoveryVersion
}

type discoveryVersion struct {
	Version   string
	Resources []discoveryResource
}

type discoveryResource struct {
	Resource, Scope, SingularResource string
	ResponseKind                      discoveryKind
	Verbs, ShortNames, Categories     []string
	Subresources                      []discoverySubresource
}

type discoveryKind struct{ Group, Version, Kind string }

type discoverySubresource struct {
	Subresource  string
	ResponseKind discoveryKind
	Verbs        []string
}

func TestKindsMatchDiscovery(t *testing.T) {
	want := load[[]discoveryGroup](t, "discovery.json")
	got := discovered(kinds.Resources(feature.At(36)))
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("discovery (-recorded +ours):\n%s", diff)
	}
}

// discovered groups resources by group and version, in their order.
func discovered(resources []*registry.Resource) []discoveryGroup {
	var groups []discoveryGroup
	for _, r := range resources {
		i := slices.IndexFunc(groups, func(g discoveryGroup) bool { return g.Metadata.Name == r.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, discoveryGroup{Metadata: struct{ Name string }{r.Group}})
		}
		group := &groups[i]
		for _, v := range r.Versions {
			j := slices.IndexFunc(group.Versions, func(have discoveryVersion) bool { return have.Version == v.Name })
			if j < 0 {
				j = len(group.Versions)
				group.Versions = append(group.Versions, discoveryVersion{Version: v.Name})
			}
			group.Versions[j].Resources = append(group.Versions[j].Resources, describe(r))
		}
	}
	return groups
}

func describe(r *registry.Resource) discoveryResource {
	d := discoveryResource{
		Resource:         r.Name,
		Scope:            "Cluster",
		SingularResource: r.Singular,
		ResponseKind:     discoveryKind{Kind: r.Kind},
		Verbs:            r.Verbs,
		ShortNames:       r.ShortNames,
		Categories:       r.Categories,
	}
	if r.Namespaced {
		d.Scope = "Namespaced"
	}
	for _, s := range r.Subresources {
		d.Subresources = append(d.Subresources, discoverySubresource{
			Subresource:  s.Name,
			ResponseKind: discoveryKind{Group: s.Kind.Group, Version: s.Kind.Version, Kind: s.Kind.Kind},
			Verbs:        s.Verbs,
		})
	}
	return d
}

func TestResourcesAreBuiltOnce(t *testing.T) {
	first, second := kinds.Resources(feature.At(36)), kinds.Resources(feature.At(36))
	if &first[0] != &second[0] {
		t.Error("Resources built its list twice")
	}
	if len(first) != 67 {
		// 68 in discovery: horizontalpodautoscalers has two versions.
		t.Errorf("got %d resources, want 67", len(first))
	}
}

func TestSchemeHasEveryServedType(t *testing.T) {
	scheme := kinds.Scheme()
	for _, r := range kinds.Resources(feature.Default()) {
		for _, v := range r.Versions {
			for name, obj := range map[string]any{"object": v.New(), "list": listOf(v)} {
				if obj == nil {
					continue
				}
				if err := recognizes(scheme, obj); err != nil {
					t.Errorf("%s %s of %s: %v", v.Name, name, cmp.Or(r.Group, "core"), err)
				}
			}
		}
	}
}
