package kind_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func TestRequiredByTagMarksMissingFields(t *testing.T) {
	at := field.NewPath("a")
	errs := append(kind.RequiredByTag(field.ErrorList{field.Required(at, ""), field.Invalid(at, 1, "")}), field.Duplicate(at, 1))
	errs = drivers().Build(feature.Default()).Strategy.ArrangeErrors(errs)
	if errs[0].Type != field.ErrorTypeInvalid || errs[2].Type != field.ErrorTypeRequired {
		t.Errorf("got %v", errs)
	}
}

func TestErrorsOfTagsComeLast(t *testing.T) {
	for release, want := range map[feature.Release]string{
		36: "[a: Required value, b: Required value: b is missing, b: Required value: b is missing]",
		37: "[b: Required value: b is missing, a: Required value]",
	} {
		missing := field.Required(field.NewPath("b"), "b is missing")
		errs := append(kind.ByTag(kind.Required(field.NewPath("a"), "")), missing, missing)
		if arrange := drivers().Build(feature.At(release)).Strategy.ArrangeErrors; arrange != nil {
			errs = arrange(errs)
		}
		// ToAggregate removes errors with the same text, too.
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if got := "[" + strings.Join(got, ", ") + "]"; got != want {
			t.Errorf("%s: got %s, want %s", release, got, want)
		}
	}
}
