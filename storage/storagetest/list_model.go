package storagetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// listForm is one combination of list options.
type listForm struct {
	key    string
	colour string // of the predicate, "" for none
	opts   storage.ListOptions
}

// listAnswer is a result of GetList in comparable form.
type listAnswer struct {
	Entries   string // key@revision, in order
	Revision  int64
	Continue  string
	Remaining int64  // -1: unknown
	Error     string // the text of a sentinel error
}

// answer returns the expected result of GetList. got is the actual result: a list of any version
// may have any revision.
func (m *stateModel) answer(form listForm, got listAnswer) listAnswer {
	from, exact, minimum, err := m.plan(form)
	switch {
	case err != nil:
		return errorAnswer(err)
	case max(exact, minimum) > m.current:
		return errorAnswer(storage.ErrFutureRevision)
	case exact > 0 && exact < m.compacted:
		return errorAnswer(storage.ErrCompacted)
	case exact > 0:
		return m.page(form, exact, from)
	case form.opts.ResourceVersion == "0" && form.opts.Continue == "" && got.Revision > 0:
		return m.page(form, got.Revision, from)
	}
	return m.page(form, m.current, from)
}

// plan returns the start key and the requested revision.
func (m *stateModel) plan(form listForm) (from string, exact, minimum int64, err error) {
	o := form.opts
	if o.Recursive && o.Continue != "" {
		from, exact, err = storage.DecodeContinue(o.Continue, form.key)
		if err == nil && o.ResourceVersion != "" && o.ResourceVersion != "0" {
			err = storage.ErrContinueWithVersion
		}
		return from, max(exact, 0), 0, err
	}
	revision, err := m.versioning.ParseResourceVersion(o.ResourceVersion)
	legacy := o.ResourceVersionMatch == "" && o.Recursive && o.Limit > 0
	if o.ResourceVersionMatch == metav1.ResourceVersionMatchExact || legacy {
		return form.key, revision, 0, err
	}
	return form.key, 0, revision, err
}

func (m *stateModel) page(form listForm, revision int64, from string) listAnswer {
	state := m.states[revision]
	keys := slices.Sorted(maps.Keys(state))
	keys = slices.DeleteFunc(keys, func(key string) bool {
		below := form.opts.Recursive && strings.HasPrefix(key, form.key)
		return key < from || key != form.key && !below
	})
	answer := listAnswer{Revision: revision, Remaining: -1}
	var entries []string
	for i, key := range keys {
		if form.colour != "" && state[key].colour != form.colour {
			continue
		}
		entries = append(entries, key+"@"+versioner.Format(state[key].revision))
		if len(entries) == int(form.opts.Limit) && i < len(keys)-1 && form.opts.Recursive {
			answer.Continue = key
			if form.colour == "" {
				answer.Remaining = int64(len(keys) - 1 - i)
			}
			break
		}
	}
	answer.Entries = strings.Join(entries, " ")
	return answer
}

// answerOf returns the comparable form of a result of GetList.
func answerOf(form listForm, page *storage.Page, err error) listAnswer {
	if err != nil {
		return errorAnswer(err)
	}
	answer := listAnswer{Revision: page.Revision, Remaining: -1}
	if page.Remaining != nil {
		answer.Remaining = *page.Remaining
	}
	if page.Continue != "" {
		from, revision, err := storage.DecodeContinue(page.Continue, form.key)
		if err != nil || revision != page.Revision {
			return listAnswer{Error: fmt.Sprintf("the token is of revision %d, the page of %d: %v", revision, page.Revision, err)}
		}
		answer.Continue = strings.TrimSuffix(from, "\x00")
	}
	entries := make([]string, len(page.Entries))
	for i, entry := range page.Entries {
		entries[i] = entry.Key + "@" + versioner.Format(entry.Revision)
	}
	answer.Entries = strings.Join(entries, " ")
	return answer
}

func errorAnswer(err error) listAnswer { return listAnswer{Error: errorText(err)} }
