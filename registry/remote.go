package registry

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Remote is a group version that another server serves: all that a catalog knows
// of it.
//
// Invariant: it does not change once it is in a catalog.
type Remote struct {
	schema.GroupVersion
	// GroupPriority and VersionPriority say where it stands in discovery: the
	// greater the further ahead.
	GroupPriority, VersionPriority int32
	// Resources as that server describes them, and Stale if it does not any more.
	Resources []apidiscoveryv2.APIResourceDiscovery
	Stale     bool
	// OpenAPI are URLs of the documents of version 3 that it has about the group
	// version, by their names, such as "apis/GROUP/VERSION".
	OpenAPI map[string]string
	// Handler passes requests on. It writes nothing if context.DeadlineExceeded ends the context
	// of a request before the other server has answered.
	Handler http.Handler
}

// The priorities of custom resources.
const CustomGroupPriority, CustomVersionPriority = 1000, 100

// SetRemotes replaces the group versions that other servers serve. Where this
// server has one of them too, the other server comes first.
func (c *Catalog) SetRemotes(remotes []*Remote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remotes = remotes
	c.publish(c.current.Load().order)
}

// Remote finds a group version that another server serves.
func (s *Snapshot) Remote(gv schema.GroupVersion) (*Remote, bool) {
	remote, ok := s.remotes[gv]
	return remote, ok
}

// Remotes returns all of them. The map must not be written to.
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

// sortGroups: the built-in groups stand first, as they were added, then the others
// by priority and name. Of the versions of a group, the priority comes before
// which is the most stable and latest one.
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

// groupPriority is the greatest of its versions.
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
