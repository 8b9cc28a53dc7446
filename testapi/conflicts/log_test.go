package conflicts

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/journal"
	"github.com/miniapi/miniapi/versioner"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

var first, second = journal.Writer{UserAgent: "first"}, journal.Writer{UserAgent: "second"}

// lose records that a writer lost a write of /c based on a revision.
func (l *Log) lose(w journal.Writer, base int64) {
	l.add(&Conflict{Object: Object{Name: "c"}, Base: base, Attempt: 1}, "/c", w)
}

// win records a write of /c based on a revision.
func (l *Log) win(w journal.Writer, base int64) {
	l.Observe(&journal.Write{Key: "/c", Base: base, Revision: base + 1, Origin: registry.Origin{UserAgent: w.UserAgent}})
}

// retries returns the tries and the outcome of each conflict.
func retries(l *Log) []string {
	var all []string
	for _, c := range l.List() {
		all = append(all, fmt.Sprintf("try %d: %s", c.Attempt, c.Retry()))
	}
	return all
}

func TestRetries(t *testing.T) {
	for name, test := range map[string]struct {
		events func(l *Log)
		want   []string
	}{
		"the loser does not try again": {
			func(l *Log) { l.lose(first, 1); l.win(second, 2) }, []string{"try 1: no"}},
		"the second try succeeds": {
			func(l *Log) { l.lose(first, 1); l.win(first, 2) }, []string{"try 1: succeeded at try 2"}},
		"the third try succeeds": {
			func(l *Log) { l.lose(first, 1); l.lose(first, 2); l.win(first, 3) },
			[]string{"try 1: succeeded at try 3", "try 2: succeeded at try 3"}},
		"the second try loses": {
			func(l *Log) { l.lose(first, 1); l.lose(first, 2) }, []string{"try 1: lost again", "try 2: no"}},
		"two writes of the same base are no retry": {
			func(l *Log) { l.lose(first, 1); l.lose(first, 1) }, []string{"try 1: no", "try 1: no"}},
		"each of two equal clients succeeds once": {
			func(l *Log) { l.lose(first, 1); l.lose(first, 1); l.win(first, 2); l.win(first, 3) },
			[]string{"try 1: succeeded at try 2", "try 1: succeeded at try 2"}},
		"another writer loses too": {
			func(l *Log) { l.lose(first, 1); l.lose(second, 1); l.win(second, 2) },
			[]string{"try 1: no", "try 1: succeeded at try 2"}},
		"a write after a success is no retry": {
			func(l *Log) { l.lose(first, 1); l.win(first, 2); l.lose(first, 3) },
			[]string{"try 1: succeeded at try 2", "try 1: no"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLog()
			test.events(l)
			if diff := cmp.Diff(test.want, retries(l)); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLogKeepsTheLastConflicts(t *testing.T) {
	l := NewLog()
	for base := range int64(2 * maxConflicts) {
		l.lose(first, base)
	}
	list := l.List()
	if len(list) != maxConflicts || list[0].Name != fmt.Sprintf("c-%d", maxConflicts+1) {
		t.Errorf("%d conflicts from %s on", len(list), list[0].Name)
	}
	if open := l.open.Load(); open != 1 { // each one is the retry of the previous one
		t.Errorf("%d conflicts are open", open)
	}
}

// receive returns the next events as "TYPE NAME".
func receive(t *testing.T, w storage.Watcher, n int) []string {
	t.Helper()
	var got []string
	for range n {
		event, open := <-w.Events()
		switch {
		case !open:
			return append(got, "end")
		case event.Type == watch.Error:
			got = append(got, "ERROR "+event.Err.Error())
		case event.Entry == nil:
			got = append(got, string(event.Type))
		default:
			got = append(got, string(event.Type)+" "+event.Entry.Key)
		}
	}
	return got
}

func TestWatchReportsChanges(t *testing.T) {
	l := NewLog()
	l.lose(first, 1)
	_, revision := l.State()
	l.lose(second, 1)
	l.win(first, 2)
	for name, test := range map[string]struct {
		opts storage.WatchOptions
		want []string
	}{
		"from the state": {storage.WatchOptions{}, []string{"ADDED c-1", "ADDED c-2", "BOOKMARK"}},
		"after a revision": {storage.WatchOptions{ResourceVersion: versioner.Format(revision)},
			[]string{"ADDED c-2", "MODIFIED c-1"}},
		"with a selector": {
			storage.WatchOptions{Predicate: storage.Predicate{
				Field: fields.OneTermEqualSelector("metadata.name", "c-2"), Attrs: attributes}},
			[]string{"ADDED c-2", "BOOKMARK"}},
		"ahead of the log": {storage.WatchOptions{ResourceVersion: "1000"},
			[]string{"ERROR " + storage.ErrCompacted.Error(), "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := l.Watch(t.Context(), test.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			if diff := cmp.Diff(test.want, receive(t, w, len(test.want))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWatchFromAnEvictedChangeIsExpired(t *testing.T) {
	l := NewLog()
	l.lose(first, 1)
	_, revision := l.State()
	for range maxChanges + 1 {
		l.lose(second, 1)
	}
	w, err := l.Watch(t.Context(), storage.WatchOptions{ResourceVersion: versioner.Format(revision)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if got := receive(t, w, 1); !strings.HasPrefix(got[0], "ERROR") {
		t.Errorf("got %v", got)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := NewLog().Watch(ctx, storage.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range w.Events() {
	}
}

// attributes selects conflicts by name.
func attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	return nil, fields.Set{"metadata.name": obj.(*unstructured.Unstructured).GetName()}, nil
}
