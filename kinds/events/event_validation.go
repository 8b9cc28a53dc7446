package events

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/kind"
)

// reporter is the name of the field that the core group calls reportingComponent.
const reporter = "reportingController"

// The rules of this group in addition to those of all events. The fields have their names in the
// core group.

// validateNew rejects the fields that only events of the core group have. Errors of the metadata
// follow the errors that both groups share.
func validateNew(e *corev1.Event) field.ErrorList {
	errs := slices.Concat(
		core.ValidateEvent(e, reporter),
		validation.ValidateObjectMetaAccessor(e, true, validation.NameIsDNSSubdomain, field.NewPath("metadata")),
		kind.ValidateFinalizers(e),
		validateSeries(e.Series),
	)
	if e.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", e.Type)))
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"firstTimestamp", !e.FirstTimestamp.IsZero()},
		{"lastTimestamp", !e.LastTimestamp.IsZero()},
		{"count", e.Count != 0},
		{"source", e.Source != corev1.EventSource{}},
	} {
		if f.set {
			errs = append(errs, field.Invalid(field.NewPath(f.name), "", "needs to be unset"))
		}
	}
	return errs
}

func validateSeries(s *corev1.EventSeries) field.ErrorList {
	var errs field.ErrorList
	if s != nil && s.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if s != nil && s.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// validateUpdate allows changes of the series only.
func validateUpdate(e, old *corev1.Event) field.ErrorList {
	errs := append(core.ValidateEvent(e, reporter), kind.ValidateFinalizers(e)...)
	if !equality.Semantic.DeepEqual(e.Series, old.Series) {
		errs = append(errs, validateSeries(e.Series)...)
	}
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"involvedObject", e.InvolvedObject, old.InvolvedObject},
		{"reason", e.Reason, old.Reason},
		{"message", e.Message, old.Message},
		{"source", e.Source, old.Source},
		{"firstTimestamp", e.FirstTimestamp, old.FirstTimestamp},
		{"lastTimestamp", e.LastTimestamp, old.LastTimestamp},
		{"count", e.Count, old.Count},
		{"reason", e.Reason, old.Reason}, // twice, as in kube-apiserver
		{"type", e.Type, old.Type},
		{"eventTime", e.EventTime, old.EventTime},
		{"action", e.Action, old.Action},
		{"related", e.Related, old.Related},
		{reporter, e.ReportingController, old.ReportingController},
		{"reportingInstance", e.ReportingInstance, old.ReportingInstance},
	} {
		if !equality.Semantic.DeepEqual(f.now, f.was) {
			errs = append(errs, field.Invalid(field.NewPath(f.name), kind.GoJSON(f.now), validation.FieldImmutableErrorMsg))
		}
	}
	return errs
}
