package storage_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

func podAttrs(obj runtime.Object) (labels.Set, fields.Set, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, nil, errNoPod
	}
	return pod.Labels, fields.Set{"spec.nodeName": pod.Spec.NodeName}, nil
}

var errNoPod = errors.New("not a pod")

func redPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"colour": "red"}},
		Spec:       corev1.PodSpec{NodeName: "n1"},
	}
}

func TestPredicate(t *testing.T) {
	red := labels.SelectorFromSet(labels.Set{"colour": "red"})
	blue := labels.SelectorFromSet(labels.Set{"colour": "blue"})
	n1 := fields.OneTermEqualSelector("spec.nodeName", "n1")
	n2 := fields.OneTermEqualSelector("spec.nodeName", "n2")
	cases := []struct {
		name           string
		predicate      storage.Predicate
		empty, matches bool
	}{
		{"the zero value", storage.Predicate{}, true, true},
		{"empty selectors", storage.Predicate{Label: labels.Everything(), Field: fields.Everything()}, true, true},
		{"a matching label", storage.Predicate{Label: red}, false, true},
		{"another label", storage.Predicate{Label: blue}, false, false},
		{"no label matches", storage.Predicate{Label: labels.Nothing()}, false, false},
		{"a matching field", storage.Predicate{Field: n1}, false, true},
		{"another field", storage.Predicate{Field: n2}, false, false},
		{"both", storage.Predicate{Label: red, Field: n1}, false, true},
		{"only the label", storage.Predicate{Label: red, Field: n2}, false, false},
		{"only the field", storage.Predicate{Label: blue, Field: n1}, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !c.empty {
				c.predicate.Attrs = podAttrs
			}
			if got := c.predicate.Empty(); got != c.empty {
				t.Errorf("Empty is %v", got)
			}
			if got, err := c.predicate.Matches(redPod()); err != nil || got != c.matches {
				t.Errorf("Matches is %v (%v)", got, err)
			}
			entry := storage.NewEntry("/pods/a", 1, func() (runtime.Object, error) { return redPod(), nil })
			if got, err := c.predicate.MatchesEntry(t.Context(), entry); err != nil || got != c.matches {
				t.Errorf("MatchesEntry is %v (%v)", got, err)
			}
		})
	}
}

func TestEmptyPredicateDoesNotDecode(t *testing.T) {
	entry := storage.NewEntry("/pods/a", 1, func() (runtime.Object, error) {
		t.Error("the object was decoded")
		return nil, storage.ErrCorrupt
	})
	if matches, err := (storage.Predicate{}).MatchesEntry(t.Context(), entry); err != nil || !matches {
		t.Errorf("MatchesEntry is %v (%v)", matches, err)
	}
}

func TestPredicateReturnsDecodeErrors(t *testing.T) {
	p := storage.Predicate{Field: fields.OneTermEqualSelector("spec.nodeName", "n1"), Attrs: podAttrs}
	if matches, err := p.Matches(&corev1.Node{}); !errors.Is(err, errNoPod) || matches {
		t.Errorf("Matches is %v (%v)", matches, err)
	}
	entry := storage.NewEntry("/pods/a", 1, func() (runtime.Object, error) { return nil, storage.ErrCorrupt })
	if matches, err := p.MatchesEntry(t.Context(), entry); !errors.Is(err, storage.ErrCorrupt) || matches {
		t.Errorf("MatchesEntry is %v (%v)", matches, err)
	}
}

func TestPredicateThatIncludesCorruptObjects(t *testing.T) {
	n1 := fields.OneTermEqualSelector("spec.nodeName", "n1")
	entry := storage.NewEntry("/pods/a", 1, func() (runtime.Object, error) { return nil, storage.ErrCorrupt })
	for name, c := range map[string]struct {
		predicate storage.Predicate
		matches   bool
	}{
		"the empty predicate matches":    {storage.Predicate{IncludeCorrupt: true}, true},
		"another predicate does not":     {storage.Predicate{IncludeCorrupt: true, Field: n1, Attrs: podAttrs}, false},
		"it needs no label to select by": {storage.Predicate{IncludeCorrupt: true, Label: labels.Everything()}, true},
	} {
		if matches, err := c.predicate.MatchesEntry(t.Context(), entry); err != nil || matches != c.matches {
			t.Errorf("%s: MatchesEntry is %v (%v)", name, matches, err)
		}
	}
}

func TestEntryDecodesOnce(t *testing.T) {
	runs := 0
	entry := storage.NewEntry("/pods/a", 1, func() (runtime.Object, error) {
		runs++
		return redPod(), nil
	})
	first, _ := entry.Object()
	second, _ := entry.Object()
	if runs != 1 || first != second {
		t.Errorf("decoded %d times", runs)
	}
}
