package miniapitest

import (
	"context"
	"fmt"
	"sort"
	"strings"
)

// record has the requests and the committed writes of a controller.
type record struct {
	// revision is the revision after which the writes were made.
	revision int64
	requests []Request
	open     []OpenRequest
	writes   []Write
}

// requests returns the requests of the controller that have ended, without those for Leases and
// Events.
func (a *attempt) requests(ctx context.Context) ([]Request, error) {
	all, err := a.server.Requests(ctx)
	if err != nil {
		return nil, err
	}
	var own []Request
	for _, r := range all {
		if r.effectiveUser() == controllerUser && !incidentalResources[r.target()] {
			own = append(own, r)
		}
	}
	return own, nil
}

// present returns the record of the controller.
func (a *attempt) present(ctx context.Context) (r record, err error) {
	if r.requests, err = a.requests(ctx); err != nil {
		return r, err
	}
	if r.open, err = a.server.OpenRequests(ctx); err != nil {
		return r, err
	}
	if r.writes, err = a.server.Writes(ctx, controllerUser, a.earlier.revision); err != nil {
		return r, err
	}
	r.requests = append(append([]Request{}, a.earlier.requests...), r.requests...)
	r.writes = append(append([]Write{}, a.earlier.writes...), r.writes...)
	return r, nil
}

// keepRecord keeps the record of a server that will be stopped.
func (a *attempt) keepRecord(ctx context.Context) error {
	present, err := a.present(ctx)
	if err != nil {
		return err
	}
	present.revision, err = a.admin.revision(ctx)
	a.earlier = present
	return err
}

// count returns the number of requests of the controller, watches that are open included.
func (a *attempt) count(ctx context.Context) (int, error) {
	ended, err := a.requests(ctx)
	if err != nil {
		return 0, err
	}
	open, err := a.server.OpenRequests(ctx)
	return len(a.earlier.requests) + len(ended) + len(open), err
}

// incidentalResources are the resources of leader election and of event recorders.
var incidentalResources = map[string]bool{"leases.coordination.k8s.io": true, "events": true, "events.events.k8s.io": true}

func (w Write) incidental() bool { return incidentalResources[w.Resource] }

// object returns the object as kubectl names it.
func (w Write) object() string {
	return ConflictObject{Resource: w.Resource, Namespace: w.Namespace, Name: w.Name, Subresource: w.Subresource}.String()
}

// watches returns the watched collections, each resource once.
func (r record) watches() []collection {
	var list []collection
	seen := map[string]bool{}
	for _, open := range r.open {
		if open.Verb != "watch" {
			continue
		}
		watched, ok := parseCollection(open.URI)
		if !ok || seen[watched.groupResource()] || incidentalResources[watched.groupResource()] {
			continue
		}
		seen[watched.groupResource()] = true
		list = append(list, watched)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].groupResource() < list[j].groupResource() })
	return list
}

// resources returns the resources of the requests, with their subresources.
func (r record) resources() []string {
	var list []string
	seen := map[string]bool{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	for _, request := range r.requests {
		name := request.Resource
		if request.Subresource != "" {
			name += "/" + request.Subresource
		}
		add(name)
	}
	for _, watched := range r.watches() {
		add(watched.resource)
	}
	return list
}

// lease returns a write to the Lease of the leader election, nil if there is none.
func (r record) lease() *Write {
	for i := range r.writes {
		if r.writes[i].Resource == "leases.coordination.k8s.io" {
			return &r.writes[i]
		}
	}
	return nil
}

// lost returns a line for each write that has undone a change of another client.
func (r record) lost() []string {
	var list []string
	for _, w := range r.writes {
		if len(w.Lost) == 0 || w.incidental() {
			continue
		}
		lost := w.Lost[0]
		list = append(list, fmt.Sprintf("lost: the %s of %s without a resourceVersion undoes the change of %s by %s at resourceVersion %d",
			w.Verb, w.object(), lost.Field, first(lost.By.User, "the server"), lost.Revision))
	}
	return list
}

// creations counts the creations by the identity of the objects.
func (r record) creations() map[string]int {
	counts := map[string]int{}
	for _, w := range r.writes {
		if w.Event == "Created" && !w.incidental() {
			counts[w.identity()]++
		}
	}
	return counts
}

// identity returns the resource, the namespace, the owner, and the name or its prefix. Two objects
// with the same identity have the same purpose.
func (w Write) identity() string {
	name := w.Name
	if w.GenerateName != "" {
		name = w.GenerateName + "*"
	}
	text := ConflictObject{Resource: w.Resource, Namespace: w.Namespace, Name: name}.String()
	if w.Owner != "" {
		text += " of " + w.Owner
	}
	return text
}

// doubled returns a line for each creation that the baseline does not have. An object with another
// identity than all objects of the baseline may be created once.
func (r record) doubled(baseline record) []string {
	normal := baseline.creations()
	var list []string
	for identity, n := range r.creations() {
		allowed := normal[identity]
		if allowed == 0 {
			allowed = 1
		}
		for ; baseline.writes != nil && n > allowed; n-- {
			list = append(list, fmt.Sprintf("doubled: %s is created %s, and %s without the failure", identity, times(n), times(allowed)))
		}
	}
	sort.Strings(list)
	return list
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strings.TrimSpace(fmt.Sprintf("%d times", n))
}
