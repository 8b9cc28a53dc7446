package storagetest

import (
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
)

func listOptionRules() []rule {
	return []rule{
		{"every combination of options is answered as the model predicts", listOptions},
	}
}

func listOptions(e *env) {
	m, kept := e.history()
	for _, form := range e.listForms(m, kept) {
		page, err := e.Store.GetList(e.Context(), form.key, form.opts)
		got := answerOf(form, page, err)
		if diff := cmp.Diff(m.answer(form, got), got); diff != "" {
			e.Errorf("%s %+v (-want +got):\n%s", form.key, form.opts, diff)
		}
	}
}

// listForms returns all combinations of list options.
func (e *env) listForms(m *stateModel, kept int64) []listForm {
	e.Helper()
	var forms []listForm
	for _, scope := range []listForm{
		{key: e.below(namespace), opts: storage.ListOptions{Recursive: true}},
		{key: e.below(""), opts: storage.ListOptions{Recursive: true}},
		{key: e.key("c")},
		{key: e.key("b")},
	} {
		tokens := []string{"", "!"}
		if scope.opts.Recursive {
			for _, revision := range []int64{kept, m.current, m.compacted - 1, m.current + 1000, -1} {
				tokens = append(tokens, e.token(scope.key, revision))
			}
		}
		for _, token := range tokens {
			scope.opts.Continue = token
			forms = append(forms, e.listVersions(scope, m, kept)...)
		}
	}
	return forms
}

// token returns the continue token for the page after object b.
func (e *env) token(prefix string, revision int64) string {
	e.Helper()
	token, err := storage.EncodeContinue(e.key("b"), prefix, revision)
	if err != nil {
		e.Fatal(err)
	}
	return token
}

// listVersions returns all combinations of versions, matches, limits and predicates for a scope.
func (e *env) listVersions(scope listForm, m *stateModel, kept int64) []listForm {
	var forms []listForm
	versions := []string{"", "0", "abc"}
	for _, revision := range []int64{m.compacted - 1, kept, m.current, m.current + 1000} {
		versions = append(versions, version(revision))
	}
	for _, asked := range versions {
		for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan} {
			for _, limit := range []int64{0, 2, 100} {
				for _, colour := range []string{"", "red"} {
					form := scope
					form.opts.ResourceVersion, form.opts.ResourceVersionMatch, form.opts.Limit = asked, match, limit
					if form.colour = colour; colour != "" {
						form.opts.Predicate = e.kind.Coloured(colour)
					}
					forms = append(forms, form)
				}
			}
		}
	}
	return forms
}
