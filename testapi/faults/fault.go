package faults

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault injects a failure into the requests that it selects.
type Fault struct {
	// Name identifies the fault in lists.
	Name   string `json:"name,omitempty"`
	Match  Match  `json:"match"`
	Effect Effect `json:"effect"`
}

// Effect is a failure. Exactly one field is set.
type Effect struct {
	// Status answers with an error.
	Status *Status `json:"status,omitempty"`
	// Conflict answers with the conflict of a stale write.
	Conflict *Conflict `json:"conflict,omitempty"`
	// Latency delays the request.
	Latency *Latency `json:"latency,omitempty"`
	// Reset closes the connection.
	Reset *Reset `json:"reset,omitempty"`
	// Watch disturbs a watch.
	Watch *Watch `json:"watch,omitempty"`
}

// Status is an error response.
type Status struct {
	// Code is the HTTP status code, from 400 to 599.
	Code int `json:"code"`
	// Reason and Message are fields of the Status. Default: the texts of kube-apiserver for Code.
	Reason  metav1.StatusReason `json:"reason,omitempty"`
	Message string              `json:"message,omitempty"`
	// RetryAfterSeconds is the value of the header Retry-After. 0: no header.
	RetryAfterSeconds int `json:"retryAfterSeconds,omitempty"`
	// AfterWrite handles the request and sends the error instead of a success, as when the answer
	// to a committed write is lost.
	AfterWrite bool `json:"afterWrite,omitempty"`
}

// Conflict is the response to a write from a stale copy.
type Conflict struct {
	// InterveningWrite writes the object before the request is handled, so that the conflict is a
	// real one: a write without a resourceVersion, or a patch, succeeds. The write sets the
	// annotation miniapi.dev/intervening-write. Without it the request is answered with a conflict
	// in any case.
	InterveningWrite bool `json:"interveningWrite,omitempty"`
}

// Latency is a delay before the request is handled.
type Latency struct {
	// Duration is the delay, and UpTo, if it is longer, the end of a uniform distribution.
	Duration metav1.Duration `json:"duration"`
	UpTo     metav1.Duration `json:"upTo,omitzero"`
}

// Reset closes the connection.
type Reset struct {
	// AfterWrite handles the request before, so that a write is committed.
	AfterWrite bool `json:"afterWrite,omitempty"`
	// AfterBytes sends so many bytes of the response before. 0: no response.
	AfterBytes int64 `json:"afterBytes,omitempty"`
}

// Watch disturbs a watch. At least one field is set.
type Watch struct {
	// EndAfter ends the watch in an orderly way before event number EndAfter+1, bookmarks not
	// counted.
	EndAfter *int `json:"endAfter,omitempty"`
	// DropAfter closes the connection before event number DropAfter+1.
	DropAfter *int `json:"dropAfter,omitempty"`
	// ExpireAfter sends the error 410 Expired before event number ExpireAfter+1, as when the
	// history was compacted.
	ExpireAfter *int `json:"expireAfter,omitempty"`
	// Delay delays each event.
	Delay metav1.Duration `json:"delay,omitzero"`
	// Hold holds all events until the fault is removed.
	Hold bool `json:"hold,omitempty"`
	// NoBookmarks withholds bookmarks.
	NoBookmarks bool `json:"noBookmarks,omitempty"`
}

// Validate returns all errors of the fault, joined.
func (f Fault) Validate() error {
	err := errors.Join(f.Match.validate(), f.Effect.validate())
	if err != nil && f.Name != "" {
		return fmt.Errorf("fault %s: %w", f.Name, err)
	}
	return err
}

// Validate returns all errors of a list of faults, joined.
func Validate(list []Fault) error {
	var errs []error
	for i, f := range list {
		if f.Name == "" {
			f.Name = fmt.Sprintf("number %d", i+1)
		}
		errs = append(errs, f.Validate())
	}
	return errors.Join(errs...)
}

func (e Effect) validate() error {
	effects := 0
	for _, set := range []bool{e.Status != nil, e.Conflict != nil, e.Latency != nil, e.Reset != nil, e.Watch != nil} {
		if set {
			effects++
		}
	}
	if effects != 1 {
		return fmt.Errorf("effect: set exactly one of status, conflict, latency, reset, watch; %d are set", effects)
	}
	switch {
	case e.Status != nil && (e.Status.Code < 400 || e.Status.Code > 599):
		return fmt.Errorf("effect.status.code %d: must be from 400 to 599", e.Status.Code)
	case e.Status != nil && e.Status.RetryAfterSeconds < 0:
		return fmt.Errorf("effect.status.retryAfterSeconds %d: must not be negative", e.Status.RetryAfterSeconds)
	case e.Latency != nil && e.Latency.Duration.Duration <= 0:
		return fmt.Errorf("effect.latency.duration %v: must be positive", e.Latency.Duration.Duration)
	case e.Reset != nil && e.Reset.AfterBytes < 0:
		return fmt.Errorf("effect.reset.afterBytes %d: must not be negative", e.Reset.AfterBytes)
	case e.Reset != nil && e.Reset.AfterBytes > 0 && e.Reset.AfterWrite:
		return errors.New("effect.reset: afterBytes includes the write, so remove afterWrite")
	case e.Watch != nil:
		return e.Watch.validate()
	}
	return nil
}

func (w Watch) validate() error {
	if w == (Watch{}) {
		return errors.New("effect.watch: set a field")
	}
	for name, after := range map[string]*int{"endAfter": w.EndAfter, "dropAfter": w.DropAfter, "expireAfter": w.ExpireAfter} {
		if after != nil && *after < 0 {
			return fmt.Errorf("effect.watch.%s %d: must not be negative", name, *after)
		}
	}
	if w.Delay.Duration < 0 {
		return fmt.Errorf("effect.watch.delay %v: must not be negative", w.Delay.Duration)
	}
	return nil
}
