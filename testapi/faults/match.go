package faults

import (
	"encoding/json"
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
	Verbs         []string `json:"verbs,omitempty" doc:"Verbs of authorization, such as update, patch, list or watch."`
	Groups        []string `json:"groups,omitempty" doc:"API groups. The core group is the empty string."`
	Resources     []string `json:"resources,omitempty" doc:"Resources, such as pods, and subresources, such as pods/status. A resource without a subresource does not select requests for its subresources."`
	Namespaces    []string `json:"namespaces,omitempty" doc:"Namespaces in the path of the request."`
	Names         []string `json:"names,omitempty" doc:"Names in the path of the request. The path of a create, a list and a watch has no name."`
	LabelSelector string   `json:"labelSelector,omitempty" doc:"A label selector, such as app=web,tier!=db. It selects by the labels of the stored object; of the object in the body, if none is stored; and of a list, a watch or a deletecollection by the labels that its own label selector requires."`
	Users         []string `json:"users,omitempty" doc:"User names."`
	UserAgents    []string `json:"userAgents,omitempty" doc:"Prefixes of the header User-Agent."`
	FieldManagers []string `json:"fieldManagers,omitempty" doc:"Values of the query parameter fieldManager."`

	PerObject   bool            `json:"perObject,omitempty" doc:"Counts the matching requests of each verb and each resource, namespace and name separately, so that nth, every and count apply to each of them. The path of a create, a list and a watch has no name. The first 10,000 combinations are counted; requests for others are not selected."`
	Nth         int64           `json:"nth,omitempty" doc:"Selects only the matching request with this number, counted from 1."`
	Every       int64           `json:"every,omitempty" doc:"Selects each matching request whose number is a multiple of it."`
	Probability float64         `json:"probability,omitempty" doc:"Selects a share of the matching requests, from 0 to 1. The sequence of selected requests depends only on seed."`
	Seed        uint64          `json:"seed,omitempty" doc:"The seed of probability and of the delays of a distribution."`
	Count       int64           `json:"count,omitempty" doc:"The maximum number of selected requests. 0: no limit."`
	Duration    metav1.Duration `json:"duration,omitzero" doc:"The time after which the fault ends, such as 5s. 0: no limit."`
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

// Labelled returns the match for a label selector, such as app=web.
func (m Match) Labelled(selector string) Match { m.LabelSelector = selector; return m }

// selectsAll reports whether the match selects all requests, apart from their time.
func (m Match) selectsAll() bool {
	m.Duration = metav1.Duration{}
	content, err := json.Marshal(m)
	return err == nil && string(content) == "{}"
}

// matches reports whether the match selects a request, apart from the label selector and the
// trigger fields. Only requests for resources are selected, and none of the group of the test APIs,
// so that faults can be removed.
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
