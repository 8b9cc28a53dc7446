package conflicts

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/testapi/journal"
)

// Conflict is a write that was answered with a conflict. It is the content of the resource
// conflicts.miniapi.dev; metadata.creationTimestamp is Time. The tags doc are the descriptions of
// the fields.
type Conflict struct {
	Name string    `json:"-"`
	Time time.Time `json:"-"`

	Object Object `json:"object" doc:"The object of the write."`
	// Base and Current are revisions.
	Base    int64 `json:"base" doc:"The resourceVersion that the rejected write is based on, 0 if it has none."`
	Current int64 `json:"current" doc:"The resourceVersion of the stored object."`
	// Loser made the rejected write, Winner the write that came first.
	Loser   Write   `json:"loser" doc:"The rejected write."`
	Winner  Write   `json:"winner" doc:"The latest write in between that changed a clashing field, else the latest write."`
	Between []Write `json:"between" doc:"The writes between base and current, the oldest first."`
	// Clashing are the fields that both sides changed.
	Clashing []string `json:"clashing" doc:"The fields that the rejected write and a write in between changed."`
	Fields   []Field  `json:"fields" doc:"The changed fields, with their values in the three versions."`
	// SideBySide are the lines of a table of Fields, for kubectl describe.
	SideBySide []string `json:"sideBySide" doc:"The changed fields in the three versions, as the lines of a table."`
	// Explanation is the text of the Warning header.
	Explanation string `json:"explanation" doc:"The conflict in one sentence."`
	Writers     string `json:"writers" doc:"The field managers or user agents of winner and loser, to sort by."`

	// Attempt is 1 for the first try of the loser, and one more for each lost try after it.
	Attempt int `json:"attempt" doc:"The number of the try that lost: 1, or more if earlier tries of the same write lost too."`
	// Retried is set when the loser has written the object again, based on a newer version.
	Retried bool `json:"retried" doc:"Whether the loser tried again, based on a newer version."`
	// SucceededAfter is the number of tries after which the loser succeeded, 0 if it has not.
	SucceededAfter int `json:"succeededAfter" doc:"The number of tries after which the loser succeeded, 0 if it has not."`
}

// Object names an object.
type Object struct {
	// Resource is the resource as RBAC names it, such as deployments.apps.
	Resource    string `json:"resource" doc:"The resource, such as deployments.apps."`
	Namespace   string `json:"namespace,omitempty" doc:"The namespace, empty at the cluster scope."`
	Name        string `json:"name" doc:"The name of the object."`
	Subresource string `json:"subresource,omitempty" doc:"The subresource of the write."`
}

// String returns the object as kubectl names it.
func (o Object) String() string {
	resource := o.Resource
	if o.Subresource != "" {
		resource += "/" + o.Subresource
	}
	return resource + " " + objectName(o.Namespace, o.Name)
}

// Write describes a write and who made it.
type Write struct {
	Revision     int64    `json:"revision,omitempty" doc:"The revision that the write made, 0 for a rejected write."`
	Verb         string   `json:"verb,omitempty" doc:"create, update, patch, apply or delete; empty for a write that is not in the journal."`
	User         string   `json:"user,omitempty" doc:"The name of the user."`
	UserAgent    string   `json:"userAgent,omitempty" doc:"The header User-Agent of the request."`
	FieldManager string   `json:"fieldManager,omitempty" doc:"The field manager."`
	RequestID    string   `json:"requestID,omitempty" doc:"The header Audit-Id of the request."`
	Time         string   `json:"time,omitempty" doc:"The time of the write."`
	Fields       []string `json:"fields,omitempty" doc:"The fields that the write changed."`
}

// Who returns the field manager, the product of the user agent, or the user.
func (w Write) Who() string {
	if w.Verb == "" && w.Revision != 0 {
		return "unknown"
	}
	return short(journal.Writer{User: w.User, UserAgent: w.UserAgent, FieldManager: w.FieldManager})
}

// Field is a changed field, with its values as JSON; "" if the field is absent or not known.
type Field struct {
	Path  string `json:"path" doc:"The path of the field."`
	Clash bool   `json:"clash" doc:"Whether both sides changed the field."`
	// ChangedBy is ChangedByBoth, ChangedByTheirs or ChangedByOurs.
	ChangedBy string `json:"changedBy" doc:"The version that changed the field: theirs, ours or both."`
	// Base, Theirs and Ours are the values that the loser has read, that is stored, and that the
	// loser submitted.
	Base   string `json:"base" doc:"The value in the version that the rejected write is based on."`
	Theirs string `json:"theirs" doc:"The value that is stored."`
	Ours   string `json:"ours" doc:"The value in the rejected write."`
}

// Values of Field.ChangedBy.
const (
	ChangedByBoth   = "both"
	ChangedByTheirs = "theirs"
	ChangedByOurs   = "ours"
)

// Retry returns whether the loser tried again, in words.
func (c *Conflict) Retry() string {
	switch {
	case c.SucceededAfter > 0:
		return "succeeded at try " + decimal(c.SucceededAfter)
	case c.Retried:
		return "lost again"
	}
	return "no"
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// record returns the conflict of an analysis.
func (a *analysis) record(loser Write, now time.Time) *Conflict {
	c := &Conflict{
		Time: now, Base: a.Base, Current: a.Current.Revision, Loser: loser, Explanation: a.warning(),
		Object: Object{
			Resource:  resourceName(a.Store.Resource().GroupResource()),
			Namespace: a.Namespace, Name: a.Name, Subresource: a.Subresource,
		},
		Clashing: limited(paths(a.clashing)), Attempt: 1, Between: []Write{},
	}
	c.Loser.Fields = limited(paths(a.ours))
	for _, w := range a.writes[max(0, len(a.writes)-maxCauses):] {
		c.Between = append(c.Between, w.describe())
	}
	if winner := a.winner(); winner != nil {
		c.Winner = winner.describe()
	}
	c.Writers = c.Winner.Who() + " before " + c.Loser.Who()
	c.Fields = a.values()
	c.SideBySide = c.table()
	return c
}

func (w intervening) describe() Write {
	d := Write{Revision: w.revision}
	if w.fields != nil {
		d.Fields = limited(paths(w.fields))
	}
	if w.write == nil {
		return d
	}
	d.Verb, d.User, d.UserAgent = verb(w.write), w.write.User, w.write.UserAgent
	d.FieldManager, d.RequestID = w.write.FieldManager, w.write.RequestID
	d.Time = w.write.Time.UTC().Format(timeFormat)
	return d
}

// resourceName returns a resource as RBAC names it.
func resourceName(r schema.GroupResource) string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// limited returns the first maxFields fields, and an empty list instead of nil.
func limited(fields []string) []string {
	return cmpList(fields)[:min(len(fields), maxFields)]
}

func cmpList(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
