package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Clock is the time of the API: of timestamps, expiries and deadlines. Safe for concurrent use.
type Clock interface {
	Now() time.Time
	// Real reports whether the time has always been the time of the machine.
	Real() bool
}

// WithClock returns a context with the clock of Now.
func WithClock(ctx context.Context, clock Clock) context.Context {
	return context.WithValue(ctx, clockKey, clock)
}

// Now returns the time of the API. Without a clock in the context it is the time of the machine.
func Now(ctx context.Context) time.Time {
	if clock, ok := ctx.Value(clockKey).(Clock); ok {
		return clock.Now()
	}
	return time.Now()
}

// Now returns the time of the API of the server.
func (c *Catalog) Now() time.Time {
	if c.config.Clock == nil {
		return time.Now()
	}
	return c.config.Clock.Now()
}

// isReal reports whether the time of the API is the time of the machine.
func (c *Catalog) isReal() bool { return c.config.Clock == nil || c.config.Clock.Real() }

// withClock returns a context for the hooks of kinds, which several servers share.
func (c *Catalog) withClock(ctx context.Context) context.Context {
	if c.isReal() {
		return ctx
	}
	return WithClock(ctx, c.config.Clock)
}

// stampManagers sets the times of the managed fields that are not among the former ones: the field
// manager sets them to the time of the machine.
func (c *Catalog) stampManagers(obj runtime.Object, former []metav1.ManagedFieldsEntry) {
	if c.isReal() {
		return
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	now := metav1.NewTime(c.Now().UTC().Truncate(time.Second))
	entries := accessor.GetManagedFields()
	for i := range entries {
		entry := &entries[i]
		kept := func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == entry.Manager && e.Operation == entry.Operation && e.Subresource == entry.Subresource &&
				e.Time.Equal(entry.Time)
		}
		if !slices.ContainsFunc(former, kept) {
			entry.Time = &now
		}
	}
	accessor.SetManagedFields(entries)
}

// Elapsed is a cell of a Table: the time that has passed since a time.
type Elapsed struct {
	Since metav1.Time
	// Format is the format of the cell, in which %s is the duration. "" is %s.
	Format string
}

// Text returns the cell in kubectl's notation.
func (e Elapsed) Text(now time.Time) string {
	text := "<unknown>"
	if !e.Since.IsZero() {
		text = duration.HumanDuration(now.Sub(e.Since.Time))
	}
	if e.Format == "" {
		return text
	}
	return fmt.Sprintf(e.Format, text)
}
