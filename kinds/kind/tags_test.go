package kind_test

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func TestErrorsOfTagsComeLast(t *testing.T) {
	d := drivers()
	d.UnqualifiedFinalizers = true
	d.ValidateCreate = func(*storagev1.CSIDriver) field.ErrorList {
		return append(kind.ByTag(kind.Required(field.NewPath("a"), "")), field.Required(field.NewPath("b"), "b is missing"))
	}
	for release, want := range map[feature.Release]string{
		36: "[a: Required value, b: Required value: b is missing]",
		37: "[b: Required value: b is missing, a: Required value]",
	} {
		strategy := d.Build(feature.At(release)).Strategy
		if got := strategy.Create.Validate(t.Context(), &storagev1.CSIDriver{}).ToAggregate().Error(); got != want {
			t.Errorf("%s: got %s, want %s", release, got, want)
		}
	}
}
