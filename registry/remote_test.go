package registry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// The priorities of remote group versions decide their place, but built-in groups come first.
func TestOrderOfRemotesInDiscovery(t *testing.T) {
	catalog := registry.NewCatalog(registry.CatalogConfig{})
	resource := func(group, version string, custom bool) *registry.Resource {
		return &registry.Resource{
			Group: group, Name: "things", Kind: "Thing", Custom: custom, Versions: []registry.Version{{Name: version}},
			Virtual: &registry.Virtual{},
		}
	}
	if err := catalog.Add(resource("builtin.example.org", "v1", false), resource("b.example.org", "v1", true)); err != nil {
		t.Fatal(err)
	}
	remote := func(group, version string, groupPriority, versionPriority int32) *registry.Remote {
		return &registry.Remote{
			GroupVersion: schema.GroupVersion{Group: group, Version: version}, GroupPriority: groupPriority, VersionPriority: versionPriority,
		}
	}
	before := catalog.Snapshot()
	catalog.SetRemotes([]*registry.Remote{
		remote("low.example.org", "v1", 999, 10), remote("high.example.org", "v1", 2000, 10),
		remote("a.example.org", "v1", 1000, 10), remote("b.example.org", "v2alpha1", 10, 101),
		remote("high.example.org", "v2", 10, 10), remote("low.example.org", "v2", 10, 9),
	})
	snapshot := catalog.Snapshot()
	var got [][]string
	for _, g := range snapshot.Groups {
		got = append(got, append([]string{g.Name}, g.Versions...))
	}
	want := [][]string{
		{"builtin.example.org", "v1"},
		{"high.example.org", "v2", "v1"},
		{"a.example.org", "v1"},
		{"b.example.org", "v2alpha1", "v1"},
		{"low.example.org", "v1", "v2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if snapshot.Generation == before.Generation || len(before.Groups) != 2 {
		t.Error("the previous snapshot has changed, or has the generation of the new one")
	}
	catalog.SetRemotes(nil)
	if diff := cmp.Diff(before.Groups, catalog.Snapshot().Groups); diff != "" {
		t.Errorf("without remotes:\n%s", diff)
	}
}
