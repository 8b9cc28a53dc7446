package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateEvent(e *corev1.Event) field.ErrorList {
	return ValidateEvent(e, "reportingComponent")
}

// ValidateEvent validates the fields that events of both groups have. An event with an eventTime is
// one of events.k8s.io and requires a reporter: controller is the name of its field.
func ValidateEvent(e *corev1.Event, controller string) field.ErrorList {
	var errs field.ErrorList
	if e.EventTime.IsZero() {
		errs = validateEventNamespace(e, metav1.NamespaceNone, metav1.NamespaceDefault)
		if e.InvolvedObject.Namespace != "" && e.InvolvedObject.Namespace != e.Namespace {
			errs = append(errs, strayEvent(e))
		}
	} else {
		errs = validateEventNamespace(e, metav1.NamespaceDefault, metav1.NamespaceSystem)
		errs = append(errs, validateReporter(e, field.NewPath(controller))...)
	}
	return append(errs, kind.Invalid(field.NewPath("namespace"), e.Namespace, utilvalidation.IsDNS1123Subdomain(e.Namespace))...)
}

// validateEventNamespace requires one of two namespaces for events about cluster-scoped objects.
func validateEventNamespace(e *corev1.Event, namespaces ...string) field.ErrorList {
	if e.InvolvedObject.Namespace != "" || e.Namespace == namespaces[0] || e.Namespace == namespaces[1] {
		return nil
	}
	return field.ErrorList{strayEvent(e)}
}

func strayEvent(e *corev1.Event) *field.Error {
	return field.Invalid(field.NewPath("involvedObject", "namespace"), e.InvolvedObject.Namespace, "does not match event.namespace")
}

func validateReporter(e *corev1.Event, controller *field.Path) field.ErrorList {
	var errs field.ErrorList
	short := func(name, value string, needed bool, most int) {
		if needed && value == "" {
			errs = append(errs, field.Required(field.NewPath(name), ""))
		}
		if len(value) > most {
			errs = append(errs, field.Invalid(field.NewPath(name), "", fmt.Sprintf("can have at most %d characters", most)))
		}
	}
	if e.ReportingController == "" {
		errs = append(errs, field.Required(controller, ""))
	}
	errs = append(errs, kind.Invalid(controller, e.ReportingController, utilvalidation.IsQualifiedName(e.ReportingController))...)
	short("reportingInstance", e.ReportingInstance, true, 128)
	short("action", e.Action, true, 128)
	short("reason", e.Reason, true, 128)
	short("message", e.Message, false, 1024)
	return errs
}
