package activity

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/registry"
)

// Watch is an open watch. It is the content of the resource watches.miniapi.dev;
// metadata.creationTimestamp is the time at which the watch began.
type Watch struct {
	Resource      string `json:"resource" doc:"The resource, such as deployments.apps."`
	Version       string `json:"version" doc:"The version of the API."`
	Namespace     string `json:"namespace,omitempty" doc:"The namespace, empty for all namespaces and at the cluster scope."`
	LabelSelector string `json:"labelSelector,omitempty" doc:"The label selector."`
	FieldSelector string `json:"fieldSelector,omitempty" doc:"The field selector."`
	User          string `json:"user,omitempty" doc:"The name of the user."`
	UserAgent     string `json:"userAgent,omitempty" doc:"The header User-Agent of the request."`
	// Sent is the position of the client: all selected changes up to it were sent.
	Sent    int64 `json:"sent" doc:"The revision up to which the selected changes were sent, 0 if none is known."`
	Current int64 `json:"current" doc:"The revision of the latest change of the resource, or sent if that is later."`
	Waiting int64 `json:"waiting" doc:"The number of changes of the resource that were not sent yet. Some of them may not be selected."`
	Events  int64 `json:"events" doc:"The number of events and bookmarks that were sent."`
}

// Watches returns the resource watches.miniapi.dev. open returns the open watches.
func Watches(open func() []lifecycle.OpenWatch) *registry.Resource {
	return definition[Watch]{
		name: "watches", singular: "watch", kind: "Watch",
		description: "Watch is an open watch of this server.",
		columns: []column[Watch]{
			{"Resource", "string", "The watched resource.", func(_ metav1.ObjectMeta, w *Watch) any { return w.Resource }},
			{"Scope", "string", "The namespace and the selectors.", func(_ metav1.ObjectMeta, w *Watch) any { return w.scope() }},
			{"Client", "string", "The client, by its user agent.", func(_ metav1.ObjectMeta, w *Watch) any { return product(w.UserAgent, w.User) }},
			{"Sent", "integer", "The revision up to which the selected changes were sent.", func(_ metav1.ObjectMeta, w *Watch) any { return w.Sent }},
			{"Current", "integer", "The revision of the latest change of the resource.", func(_ metav1.ObjectMeta, w *Watch) any { return w.Current }},
			{"Waiting", "integer", "The number of changes that were not sent yet.", func(_ metav1.ObjectMeta, w *Watch) any { return w.Waiting }},
			{"Events", "integer", "The number of events and bookmarks that were sent.", func(_ metav1.ObjectMeta, w *Watch) any { return w.Events }},
			{"Age", "string", "The time since the watch began.", func(m metav1.ObjectMeta, _ *Watch) any { return age(m) }},
		},
		list: func(context.Context) ([]object[Watch], error) { return describeWatches(open()), nil },
	}.resource()
}

func describeWatches(open []lifecycle.OpenWatch) []object[Watch] {
	list := make([]object[Watch], len(open))
	for i, o := range open {
		list[i].Name = o.Target.Resource + "-" + strconv.FormatInt(o.Number, 10)
		list[i].CreationTimestamp = metav1.NewTime(o.Since)
		list[i].content = describeWatch(o)
	}
	return list
}

func describeWatch(o lifecycle.OpenWatch) *Watch {
	backlog := o.Backlog()
	w := &Watch{
		Resource: schema.GroupResource{Group: o.Target.Group, Resource: o.Target.Resource}.String(), Version: o.Target.Version,
		LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector, User: o.User, UserAgent: o.UserAgent,
		Sent: o.Revision(), Current: backlog.Latest, Waiting: backlog.Waiting, Events: o.Events(),
	}
	if o.Target.InNamespace {
		w.Namespace = o.Target.Namespace
	}
	if w.Waiting == 0 { // later changes are not selected
		w.Sent = max(w.Sent, w.Current)
	}
	w.Current = max(w.Current, w.Sent) // a bookmark is later than the latest change
	return w
}

// scope returns the namespace and the selectors in one line.
func (w *Watch) scope() string {
	scope := "*"
	if w.Namespace != "" {
		scope = w.Namespace
	}
	for _, selector := range []string{w.LabelSelector, w.FieldSelector} {
		if selector != "" {
			scope += " " + selector
		}
	}
	return scope
}

func age(m metav1.ObjectMeta) string {
	return duration.HumanDuration(time.Since(m.CreationTimestamp.Time))
}
