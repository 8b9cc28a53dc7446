package faults

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// Match selects requests. An empty list selects all values. The trigger fields select among the
// matching requests; without them all are selected.
type Match struct {
	// Verbs are verbs of authorization, such as update, patch, list or watch.
	Verbs []string `json:"verbs,omitempty"`
	// Groups are API groups; "" is the core group.
	Groups []string `json:"groups,omitempty"`
	// Resources are resources, such as pods, or subresources, such as pods/status. A resource
	// without a subresource does not select requests for its subresources.
	Resources []string `json:"resources,omitempty"`
	// Namespaces and Names are the namespace and the name in the path.
	Namespaces []string `json:"namespaces,omitempty"`
	Names      []string `json:"names,omitempty"`
	// Users are user names.
	Users []string `json:"users,omitempty"`
	// UserAgents are prefixes of the header User-Agent.
	UserAgents []string `json:"userAgents,omitempty"`
	// FieldManagers are values of the query parameter fieldManager.
	FieldManagers []string `json:"fieldManagers,omitempty"`

	// Nth selects only the matching request with this number, counted from 1.
	Nth int64 `json:"nth,omitempty"`
	// Every selects each matching request whose number is a multiple of it.
	Every int64 `json:"every,omitempty"`
	// Probability selects a share of the matching requests, from 0 to 1. The sequence of
	// selected requests depends only on Seed.
	Probability float64 `json:"probability,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	// Count is the maximum number of selected requests. 0: no limit.
	Count int64 `json:"count,omitempty"`
	// Duration is the time after which the fault selects no more requests. 0: no limit.
	Duration metav1.Duration `json:"duration,omitzero"`
}

// On returns the match of a verb and resources. Verb "" is every verb.
func On(verb string, resources ...string) Match {
	m := Match{Resources: resources}
	if verb != "" {
		m.Verbs = []string{verb}
	}
	return m
}

// Times returns the match for the first n requests.
func (m Match) Times(n int64) Match { m.Count = n; return m }

// In returns the match for namespaces.
func (m Match) In(namespaces ...string) Match { m.Namespaces = namespaces; return m }

// Named returns the match for names of objects.
func (m Match) Named(names ...string) Match { m.Names = names; return m }

// By returns the match for users.
func (m Match) By(users ...string) Match { m.Users = users; return m }

// From returns the match for prefixes of the user agent.
func (m Match) From(userAgents ...string) Match { m.UserAgents = userAgents; return m }

// For returns the match that ends after a time.
func (m Match) For(d time.Duration) Match { m.Duration = metav1.Duration{Duration: d}; return m }

func (m Match) validate() error {
	var errs []error
	for _, verb := range m.Verbs {
		if verb != strings.ToLower(verb) {
			errs = append(errs, fmt.Errorf("match.verbs: %q is not in lower case", verb))
		}
	}
	for name, n := range map[string]int64{"nth": m.Nth, "every": m.Every, "count": m.Count} {
		if n < 0 {
			errs = append(errs, fmt.Errorf("match.%s %d: must not be negative", name, n))
		}
	}
	if m.Probability < 0 || m.Probability > 1 {
		errs = append(errs, fmt.Errorf("match.probability %v: must be from 0 to 1", m.Probability))
	}
	if m.Duration.Duration < 0 {
		errs = append(errs, fmt.Errorf("match.duration %v: must not be negative", m.Duration.Duration))
	}
	return errors.Join(errs...)
}

// matches reports whether the match selects a request, apart from the trigger fields. Only requests
// for resources are selected, and none of the group of the test APIs, so that faults can be
// removed.
func (m *Match) matches(r *http.Request) bool {
	info := request.InfoFrom(r)
	if info.Form != request.ResourcePath || info.Group == Group {
		return false
	}
	resource := info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	user := ""
	if u := registry.UserFrom(r.Context()); u != nil {
		user = u.Username
	}
	return contains(m.Verbs, info.Verb) && contains(m.Groups, info.Group) && contains(m.Resources, resource) &&
		contains(m.Namespaces, info.Namespace) && contains(m.Names, info.Name) && contains(m.Users, user) &&
		hasPrefix(m.UserAgents, r.UserAgent()) &&
		(len(m.FieldManagers) == 0 || contains(m.FieldManagers, r.URL.Query().Get("fieldManager")))
}

func contains(list []string, value string) bool {
	return len(list) == 0 || slices.Contains(list, value)
}

func hasPrefix(prefixes []string, value string) bool {
	return len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(value, prefix) })
}
