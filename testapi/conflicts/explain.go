package conflicts

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/journal"
)

// The types of the causes of an explained conflict.
const (
	// CauseInterveningWrite names a write that came first.
	CauseInterveningWrite metav1.CauseType = "InterveningWrite"
	// CauseFieldChangedByBoth names a field that both the rejected write and another one changed.
	CauseFieldChangedByBoth metav1.CauseType = "FieldChangedByBoth"
	// CauseDifferentFields states that no field was changed by both.
	CauseDifferentFields metav1.CauseType = "DifferentFields"
	// CauseUnknownBase states that the version in the write cannot be compared with the stored one.
	CauseUnknownBase metav1.CauseType = "UnknownBase"
)

const (
	// maxCauses limits the causes of one type.
	maxCauses = 16
	// maxWarned limits the writes and the fields that a warning names.
	maxWarned = 3
)

// Explainer implements registry.ConflictExplainer.
type Explainer struct {
	journal *journal.Journal
	log     *Log
}

// NewExplainer returns an Explainer that finds writers in a journal and records conflicts in a log.
func NewExplainer(j *journal.Journal, l *Log) *Explainer { return &Explainer{journal: j, log: l} }

// Explain implements registry.ConflictExplainer. Neither the causes nor the warning contain values
// of fields, because the client may not be allowed to read the object.
func (e *Explainer) Explain(ctx context.Context, c *registry.Conflict) []metav1.StatusCause {
	a := analyze(ctx, c, e.journal)
	registry.AddWarning(ctx, a.warning())
	writer := journal.WriterFrom(ctx)
	e.log.add(a.record(loser(ctx, writer), time.Now()), c.Key, writer)
	return a.causes()
}

// loser returns the rejected write of a request.
func loser(ctx context.Context, writer journal.Writer) Write {
	w := Write{User: writer.User, UserAgent: writer.UserAgent, FieldManager: writer.FieldManager}
	if origin := registry.OriginFrom(ctx); origin != nil {
		w.Verb, w.RequestID = origin.Verb, origin.RequestID
	}
	return w
}

// causes returns the explanation as causes of a Status.
func (a *analysis) causes() []metav1.StatusCause {
	var causes []metav1.StatusCause
	add := func(t metav1.CauseType, field, message string) {
		causes = append(causes, metav1.StatusCause{Type: t, Field: field, Message: message})
	}
	if problem := a.problem(); problem != "" {
		add(CauseUnknownBase, "", problem)
	}
	for _, w := range a.writes[max(0, len(a.writes)-maxCauses):] {
		add(CauseInterveningWrite, "", w.String())
	}
	for i, path := range paths(a.clashing) {
		if i == maxCauses {
			add(CauseFieldChangedByBoth, "", fmt.Sprintf("and %d more fields", a.clashing.Size()-i))
			break
		}
		add(CauseFieldChangedByBoth, path, fmt.Sprintf("changed by this write and by another one since revision %d", a.Base))
	}
	if a.touchesOtherFields() {
		add(CauseDifferentFields, "", a.advice())
	}
	return causes
}

// problem returns why the version in the write cannot be compared, "" if it can.
func (a *analysis) problem() string {
	switch {
	case a.foreign:
		return fmt.Sprintf("revision %d is newer than the stored object, which is at revision %d: it does not come from this object", a.Base, a.Current.Revision)
	case a.early:
		return fmt.Sprintf("the object did not exist at revision %d: the revision does not come from this object", a.Base)
	case a.Replaced:
		return "the object was deleted and created again since it was read"
	case a.compacted:
		return fmt.Sprintf("revision %d is compacted, so the changed fields are not known", a.Base)
	}
	return ""
}

// touchesOtherFields reports whether the write changes fields, and none that another one changed.
func (a *analysis) touchesOtherFields() bool {
	return a.submitted != nil && !a.ours.Empty() && a.clashing.Empty()
}

func (a *analysis) advice() string {
	return fmt.Sprintf("the writes changed different fields, this one %s and the others %s: a patch of only these fields, or a server-side apply, would not have conflicted with them",
		shown(a.ours), shown(a.theirs))
}

// warning returns the explanation in one line.
func (a *analysis) warning() string {
	var text strings.Builder
	fmt.Fprintf(&text, "conflict: %s is at revision %d", a.Store.Resource().GroupResource().String()+" "+objectName(a.Namespace, a.Name), a.Current.Revision)
	if a.Base != 0 {
		fmt.Fprintf(&text, ", and the write is based on revision %d", a.Base)
	}
	if problem := a.problem(); problem != "" {
		text.WriteString("; " + problem)
	}
	if n := len(a.writes); n > 0 {
		text.WriteString("; written in between by ")
		if n > maxWarned || a.truncated {
			text.WriteString("others and ")
		}
		for i, w := range a.writes[max(0, n-maxWarned):] {
			if i > 0 {
				text.WriteString(", ")
			}
			text.WriteString(w.who())
		}
	}
	switch {
	case !a.clashing.Empty():
		text.WriteString("; both changed " + shown(a.clashing))
	case a.touchesOtherFields():
		text.WriteString("; " + a.advice())
	}
	return text.String()
}

// String returns a line about a write.
func (w intervening) String() string {
	text := fmt.Sprintf("revision %d: ", w.revision)
	if w.write == nil {
		text += "a write that is not in the journal of this server"
	} else {
		text += fmt.Sprintf("%s by %s at %s", verb(w.write), describe(w.write.Writer()), w.write.Time.UTC().Format("15:04:05.000"))
		if w.write.RequestID != "" {
			text += ", audit ID " + w.write.RequestID
		}
	}
	if w.fields != nil {
		text += ", changed " + shown(w.fields)
	}
	return text
}

// who returns the writer and the revision.
func (w intervening) who() string {
	if w.write == nil {
		return fmt.Sprintf("an unknown writer (revision %d)", w.revision)
	}
	return fmt.Sprintf("%s (%s, revision %d, %s)", short(w.write.Writer()), verb(w.write), w.revision, w.timeOf().UTC().Format("15:04:05.000"))
}

// verb returns the verb of a write, with its subresource.
func verb(w *journal.Write) string {
	name := w.Verb
	if name == "" {
		name = map[storage.Outcome]string{storage.Created: "create", storage.Updated: "update", storage.Deleted: "delete"}[w.Outcome]
	}
	if w.Subresource != "" {
		name += " of " + w.Subresource
	}
	return name
}

// describe returns all that identifies a writer.
func describe(w journal.Writer) string {
	text := cmp.Or(w.User, "the server")
	var more []string
	if w.UserAgent != "" {
		more = append(more, "user agent "+w.UserAgent)
	}
	if w.FieldManager != "" {
		more = append(more, "field manager "+w.FieldManager)
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// short returns the most specific name of a writer: its field manager, else the product of its user
// agent, else its user.
func short(w journal.Writer) string {
	product, _, _ := strings.Cut(w.UserAgent, "/")
	return cmp.Or(w.FieldManager, product, w.User, "the server")
}

func objectName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// paths returns the fields of a set, in order.
func paths(set *fieldpath.Set) []string {
	var list []string
	for path := range set.All() {
		list = append(list, path.String())
	}
	return list
}

// shown returns the first fields of a set.
func shown(set *fieldpath.Set) string {
	list := paths(set)
	if len(list) == 0 {
		return "nothing"
	}
	if more := len(list) - maxWarned; more > 0 {
		return fmt.Sprintf("%s and %d more fields", strings.Join(list[:maxWarned], ", "), more)
	}
	return strings.Join(list, ", ")
}
