package registry

import (
	"cmp"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Remote is a group version that another server serves.
type Remote struct {
	schema.GroupVersion
	// GroupPriority and VersionPriority determine the order in discovery, the greatest first.
	GroupPriority, VersionPriority int32
	// Resources as the other server describes them. Stale is set if that description is out of
	// date.
	Resources []apidiscoveryv2.APIResourceDiscovery
	Stale     bool
	// OpenAPI has the URLs of the OpenAPI v3 documents of the group version, by name, such as
	// "apis/GROUP/VERSION".
	OpenAPI map[string]string
}

// CustomGroupPriority and CustomVersionPriority are the priorities of custom resources.
const CustomGroupPriority, CustomVersionPriority = 1000, 100

// SetRemotes replaces the remote group versions. They take precedence over the group versions of
// this server.
func (c *Catalog) SetRemotes(remotes []*Remote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remotes = remotes
	c.publish(c.current.Load().order)
}

// Remote returns the remote of a group version, and false if there is none.
func (s *Snapshot) Remote(gv schema.GroupVersion) (*Remote, bool) {
	remote, ok := s.remotes[gv]
	return remote, ok
}

// Remotes returns all remotes. The map must not be modified.
func (s *Snapshot) Remotes() map[schema.GroupVersion]*Remote { return s.remotes }

func (s *Snapshot) addRemote(r *Remote) {
	if s.remotes == nil {
		s.remotes = map[schema.GroupVersion]*Remote{}
	}
	s.remotes[r.GroupVersion] = r
	group := s.group(r.Group, true)
	if !slices.Contains(group.Versions, r.Version) {
		group.Versions = append(group.Versions, r.Version)
	}
}

// sortGroups sorts the custom groups after the built-in groups by priority and name. Versions of
// a group are sorted by priority, and then by stability and number.
func (s *Snapshot) sortGroups() {
	slices.SortStableFunc(s.Groups, func(a, b Group) int {
		switch {
		case a.Custom && b.Custom:
			return cmp.Or(cmp.Compare(s.groupPriority(b), s.groupPriority(a)), strings.Compare(a.Name, b.Name))
		case a.Custom:
			return 1
		case b.Custom:
			return -1
		}
		return 0
	})
	for _, g := range s.Groups {
		slices.SortFunc(g.Versions, func(a, b string) int {
			return cmp.Or(
				cmp.Compare(s.versionPriority(g, b), s.versionPriority(g, a)),
				version.CompareKubeAwareVersionStrings(b, a),
			)
		})
	}
}

// groupPriority returns the greatest priority of its versions.
func (s *Snapshot) groupPriority(g Group) int32 {
	var priority int32
	for _, v := range g.Versions {
		of := int32(CustomGroupPriority)
		if remote, ok := s.remotes[schema.GroupVersion{Group: g.Name, Version: v}]; ok {
			of = remote.GroupPriority
		}
		priority = max(priority, of)
	}
	return priority
}

func (s *Snapshot) versionPriority(g Group, v string) int32 {
	if remote, ok := s.remotes[schema.GroupVersion{Group: g.Name, Version: v}]; ok {
		return remote.VersionPriority
	}
	return CustomVersionPriority
}
