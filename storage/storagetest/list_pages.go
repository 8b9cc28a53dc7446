package storagetest

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/storage"
)

func pageRules() []rule {
	return []rule{
		{"all pages have one revision during concurrent writes", pagesOfOneRevision},
		{"remaining counts the objects of later pages", pagesCountRemaining},
		{"a list that fits into the limit has no continue token", pagesThatFit},
		{"pages are filled with matching objects", pagesOfMatches},
		{"a match after many other objects is found", pagesRareMatch},
		{"pages of a namespace contain no other objects", pagesStayBelow},
		{"the legacy exact form can be continued", pagesOfLegacyExact},
		{"accepts a continue token with resourceVersion 0 only", pagesAndVersions},
		{"a token of a compacted revision is rejected", pagesCompacted},
		{"a token without a revision continues in the latest state", pagesInconsistent},
		{"an invalid token is rejected", pagesInvalidToken},
		{"a token after the last key returns an empty page", pagesAfterTheEnd},
	}
}

// pages lists all pages; it calls between after each page.
func (e *env) pages(key string, opts storage.ListOptions, between func()) []*storage.Page {
	e.Helper()
	var pages []*storage.Page
	for {
		page := e.list(key, opts)
		pages = append(pages, page)
		if opts.Limit > 0 && int64(len(page.Entries)) > opts.Limit {
			e.Errorf("%d entries on a page of %d", len(page.Entries), opts.Limit)
		}
		if page.Continue == "" {
			return pages
		}
		opts.Continue = page.Continue
		opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
		between()
	}
}

func entriesOf(pages []*storage.Page) []*storage.Entry {
	var all []*storage.Entry
	for _, page := range pages {
		all = append(all, page.Entries...)
	}
	return all
}

func (e *env) wantOneRevision(pages []*storage.Page, revision int64) {
	e.Helper()
	for i, page := range pages {
		if page.Revision != revision {
			e.Errorf("page %d has revision %d, want %d", i, page.Revision, revision)
		}
	}
}

func pagesOfOneRevision(e *env) {
	e.many(7, colourless)
	begun := e.revision()
	n := 0
	pages := e.pages(e.below(""), storage.ListOptions{Recursive: true, Limit: 2}, func() {
		n++
		e.create(e.object(fmt.Sprintf("o0000%d-new", n), "new"))
		e.set("o00006", fmt.Sprint(n))
		if n == 1 {
			e.delete("o00005")
		}
	})
	e.wantOneRevision(pages, begun)
	all := entriesOf(pages)
	e.wantNames(all, "o00000", "o00001", "o00002", "o00003", "o00004", "o00005", "o00006")
	for _, entry := range all {
		if value := valueOf(e.open(entry)); value != "0" {
			e.Errorf("%s has the value %q of a later revision", entry.Key, value)
		}
	}
}

func pagesCountRemaining(e *env) {
	e.many(7, colourless)
	var got []int64
	pages := e.pages(e.below(""), storage.ListOptions{Recursive: true, Limit: 3}, func() {})
	for _, page := range pages[:len(pages)-1] {
		if page.Remaining == nil {
			e.Fatal("remaining is not known")
		}
		got = append(got, *page.Remaining)
	}
	if diff := cmp.Diff([]int64{4, 1}, got); diff != "" {
		e.Errorf("remaining (-want +got):\n%s", diff)
	}
	if last := pages[len(pages)-1]; last.Remaining != nil && *last.Remaining != 0 {
		e.Errorf("%d remain after the last page", *last.Remaining)
	}
}

func pagesThatFit(e *env) {
	e.many(4, colourless)
	for _, limit := range []int64{4, 5, 1000} {
		page := e.list(e.below(""), storage.ListOptions{Recursive: true, Limit: limit})
		if len(page.Entries) != 4 || page.Continue != "" {
			e.Errorf("limit %d: %d entries, continue %q", limit, len(page.Entries), page.Continue)
		}
	}
}

// everyThird returns red for every third object.
func everyThird(i int) string {
	if i%3 == 0 {
		return "red"
	}
	return "blue"
}

func pagesOfMatches(e *env) {
	e.many(13, everyThird)
	begun := e.revision()
	pages := e.pages(e.below(""), storage.ListOptions{Recursive: true, Limit: 2, Predicate: e.kind.Coloured("red")}, func() {
		e.create(e.painted(fmt.Sprintf("p%d", e.revision()), "0", "red"))
	})
	e.wantOneRevision(pages, begun)
	e.wantNames(entriesOf(pages), "o00000", "o00003", "o00006", "o00009", "o00012")
	for i, page := range pages {
		if page.Remaining != nil {
			e.Errorf("page %d has %d remaining objects, want an unknown number", i, *page.Remaining)
		}
		if page.Continue != "" && len(page.Entries) != 2 {
			e.Errorf("page %d has %d of 2 entries and is not the last", i, len(page.Entries))
		}
	}
}

func pagesRareMatch(e *env) {
	e.many(1100, func(i int) string {
		if i == 1050 {
			return "red"
		}
		return "blue"
	})
	pages := e.pages(e.below(""), storage.ListOptions{Recursive: true, Limit: 1, Predicate: e.kind.Coloured("red")}, func() {})
	e.wantNames(entriesOf(pages), "o01050")
}

func pagesStayBelow(e *env) {
	e.many(3, colourless)
	e.create(e.kind.New("ns0", "before", "1"))
	e.create(e.kind.New("ns10", "after", "1"))
	pages := e.pages(e.below(namespace), storage.ListOptions{Recursive: true, Limit: 1}, func() {})
	e.wantNames(entriesOf(pages), "o00000", "o00001", "o00002")
}

func pagesOfLegacyExact(e *env) {
	e.many(3, colourless)
	begun := e.revision()
	e.delete("o00002")
	opts := storage.ListOptions{Recursive: true, ResourceVersion: version(begun), Limit: 2}
	pages := e.pages(e.below(""), opts, func() {})
	e.wantOneRevision(pages, begun)
	e.wantNames(entriesOf(pages), "o00000", "o00001", "o00002")
}

func pagesAndVersions(e *env) {
	e.many(3, colourless)
	first := e.list(e.below(""), storage.ListOptions{Recursive: true, Limit: 2})
	opts := storage.ListOptions{Recursive: true, Limit: 2, Continue: first.Continue, ResourceVersion: "0"}
	e.wantNames(e.list(e.below(""), opts).Entries, "o00002")
	opts.ResourceVersion = version(first.Revision)
	_, err := e.Store.GetList(e.Context(), e.below(""), opts)
	e.wantError(err, storage.ErrContinueWithVersion, "list", e.below(""))
	opts.Continue = "!"
	_, err = e.Store.GetList(e.Context(), e.below(""), opts)
	e.wantError(err, storage.ErrInvalidContinue, "list", e.below(""))
}

func pagesCompacted(e *env) {
	e.many(3, colourless)
	first := e.list(e.below(""), storage.ListOptions{Recursive: true, Limit: 2})
	e.compact(e.set("o00000", "2").Revision)
	_, err := e.Store.GetList(e.Context(), e.below(""),
		storage.ListOptions{Recursive: true, Limit: 2, Continue: first.Continue})
	e.wantError(err, storage.ErrCompacted, "list", e.below(""))
}

func pagesInconsistent(e *env) {
	e.many(3, colourless)
	token, err := storage.EncodeContinue(e.below("")+namespace+"/o00000", e.below(""), -1)
	if err != nil {
		e.Fatal(err)
	}
	latest := e.set("o00001", "2")
	page := e.list(e.below(""), storage.ListOptions{Recursive: true, Limit: 5, Continue: token})
	e.wantNames(page.Entries, "o00001", "o00002")
	e.wantEntry(page.Entries[0], "o00001", latest.Revision, "2")
	if page.Revision != latest.Revision {
		e.Errorf("the page has revision %d, want the latest, %d", page.Revision, latest.Revision)
	}
}

func pagesInvalidToken(e *env) {
	e.many(3, colourless)
	outside, err := storage.EncodeContinue(e.below("")+"../secrets/a", e.below(""), e.revision())
	if err != nil {
		e.Fatal(err)
	}
	for _, token := range []string{"not base64!", "bm8ganNvbg", outside} {
		_, err := e.Store.GetList(e.Context(), e.below(""), storage.ListOptions{Recursive: true, Limit: 2, Continue: token})
		e.wantError(err, storage.ErrInvalidContinue, "list", e.below(""))
	}
}

func pagesAfterTheEnd(e *env) {
	e.many(3, colourless)
	revision := e.revision()
	token, err := storage.EncodeContinue(e.key("o99999"), e.below(""), revision)
	if err != nil {
		e.Fatal(err)
	}
	page := e.list(e.below(""), storage.ListOptions{Recursive: true, Limit: 2, Continue: token})
	if len(page.Entries) != 0 || page.Continue != "" || page.Revision != revision {
		e.Errorf("the page is %+v", page)
	}
}
