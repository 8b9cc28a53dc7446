package faults

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/versioner"
)

// Validate returns all errors of the fault, joined.
func (f Fault) Validate() error {
	errs := f.validate(nil)
	if f.Name != "" {
		for _, text := range validation.NameIsDNSSubdomain(f.Name, false) {
			errs = append(errs, field.Invalid(field.NewPath("name"), f.Name, text))
		}
	}
	err := errs.ToAggregate()
	if err != nil && f.Name != "" {
		return fmt.Errorf("fault %s: %w", f.Name, err)
	}
	if err != nil {
		return err
	}
	return nil
}

// Validate returns all errors of a list of faults, joined.
func Validate(list []Fault) error {
	var errs []error
	names := map[string]bool{}
	for i, f := range list {
		err := f.Validate()
		if err != nil && f.Name == "" {
			err = fmt.Errorf("fault number %d: %w", i+1, err)
		}
		if f.Name != "" && names[f.Name] {
			err = errors.Join(err, fmt.Errorf("fault %s: another fault has the same name", f.Name))
		}
		names[f.Name] = true
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// validate returns the errors of the fields of a fault, which are below a path.
func (f *Fault) validate(path *field.Path) field.ErrorList {
	return append(f.Match.validate(path.Child("match")), f.Effect.validate(path.Child("effect"))...)
}

func (m *Match) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, verb := range m.Verbs {
		if verb != strings.ToLower(verb) {
			errs = append(errs, field.Invalid(path.Child("verbs").Index(i), verb, "must be in lower case"))
		}
	}
	for _, number := range []struct {
		name  string
		value int64
	}{{"nth", m.Nth}, {"every", m.Every}, {"count", m.Count}} {
		errs = append(errs, notNegative(path.Child(number.name), number.value)...)
	}
	if _, err := labels.Parse(m.LabelSelector); err != nil {
		errs = append(errs, field.Invalid(path.Child("labelSelector"), m.LabelSelector, err.Error()))
	}
	if m.Probability < 0 || m.Probability > 1 {
		errs = append(errs, field.Invalid(path.Child("probability"), m.Probability, "must be from 0 to 1"))
	}
	return append(errs, durationNotNegative(path.Child("duration"), m.Duration)...)
}

func (e *Effect) validate(path *field.Path) field.ErrorList {
	set := 0
	var errs field.ErrorList
	count := func(isSet bool, validate func() field.ErrorList) {
		if isSet {
			set++
			errs = append(errs, validate()...)
		}
	}
	none := func() field.ErrorList { return nil }
	count(e.Status != nil, func() field.ErrorList { return e.Status.validate(path.Child("status")) })
	count(e.Conflict != nil, none)
	count(e.Latency != nil, func() field.ErrorList { return e.Latency.validate(path.Child("latency")) })
	count(e.Reset != nil, func() field.ErrorList { return e.Reset.validate(path.Child("reset")) })
	count(e.Watch != nil, func() field.ErrorList { return e.Watch.validate(path.Child("watch")) })
	count(e.Stale != nil, func() field.ErrorList { return e.Stale.validate(path.Child("stale")) })
	count(e.Etcd != nil, func() field.ErrorList { return e.Etcd.validate(path.Child("etcd")) })
	count(e.Compact != nil, none)
	switch {
	case set == 0:
		errs = append(errs, field.Required(path, "set exactly one of "+effectNames()))
	case set > 1:
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("set exactly one of %s; %d are set", effectNames(), set)))
	}
	return errs
}

// effectNames returns the names of all fields, separated by commas.
func effectNames() string {
	var names []string
	for f := range reflect.TypeFor[Effect]().Fields() {
		names = append(names, jsonName(f))
	}
	return strings.Join(names, ", ")
}

// name returns the name of the field that is set.
func (e *Effect) name() string {
	for f, value := range reflect.ValueOf(e).Elem().Fields() {
		if !value.IsNil() {
			return jsonName(f)
		}
	}
	return ""
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func (s *Status) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Code < 400 || s.Code > 599 {
		errs = append(errs, field.Invalid(path.Child("code"), s.Code, "must be from 400 to 599"))
	}
	return append(errs, notNegative(path.Child("retryAfterSeconds"), int64(s.RetryAfterSeconds))...)
}

func (l *Latency) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if l.Duration.Duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("duration"), l.Duration.Duration.String(), "must be positive"))
	}
	return append(errs, durationNotNegative(path.Child("upTo"), l.UpTo)...)
}

func (r *Reset) validate(path *field.Path) field.ErrorList {
	errs := notNegative(path.Child("afterBytes"), r.AfterBytes)
	if r.AfterBytes > 0 && r.AfterWrite {
		errs = append(errs, field.Forbidden(path.Child("afterWrite"), "afterBytes includes the write"))
	}
	return errs
}

func (w *Watch) validate(path *field.Path) field.ErrorList {
	if *w == (Watch{}) {
		return field.ErrorList{field.Required(path, "set a field")}
	}
	var errs field.ErrorList
	for _, after := range []struct {
		name  string
		value *int
	}{{"endAfter", w.EndAfter}, {"dropAfter", w.DropAfter}, {"expireAfter", w.ExpireAfter}} {
		if after.value != nil {
			errs = append(errs, notNegative(path.Child(after.name), int64(*after.value))...)
		}
	}
	return append(errs, durationNotNegative(path.Child("delay"), w.Delay)...)
}

func (s *Stale) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if _, err := (versioner.APIObjectVersioner{}).ParseResourceVersion(s.ResourceVersion); err != nil {
		errs = append(errs, field.Invalid(path.Child("resourceVersion"), s.ResourceVersion, "must be a resourceVersion"))
	}
	if s.ResourceVersion != "" && s.Lag.Duration != 0 {
		errs = append(errs, field.Forbidden(path.Child("lag"), "a resourceVersion is set"))
	}
	return append(errs, durationNotNegative(path.Child("lag"), s.Lag)...)
}

func (e *Etcd) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if *e == (Etcd{}) {
		errs = append(errs, field.Required(path, "set a field"))
	}
	if e.Unavailable && e.NoSpace {
		errs = append(errs, field.Forbidden(path.Child("noSpace"), "unavailable is set"))
	}
	if e.Latency != nil {
		errs = append(errs, e.Latency.validate(path.Child("latency"))...)
	}
	return errs
}

func notNegative(path *field.Path, value int64) field.ErrorList {
	if value < 0 {
		return field.ErrorList{field.Invalid(path, value, "must not be negative")}
	}
	return nil
}

func durationNotNegative(path *field.Path, value metav1.Duration) field.ErrorList {
	if value.Duration < 0 {
		return field.ErrorList{field.Invalid(path, value.Duration.String(), "must not be negative")}
	}
	return nil
}
