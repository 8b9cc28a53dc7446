package registry

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// finishFunc ends what a begin-hook began. The first call counts, any other does
// nothing: so the one that has to come even after a panic can be deferred.
type finishFunc func(ctx context.Context, written bool)

func finishNothing(context.Context, bool) {}

// joined is several in one, the latest first.
func joined(all ...finishFunc) finishFunc {
	return func(ctx context.Context, written bool) {
		for _, finish := range slices.Backward(all) {
			finish(ctx, written)
		}
	}
}

func (s *Store) beginCreate(ctx context.Context, obj runtime.Object, opts WriteOptions) (finishFunc, error) {
	if s.hooks.BeginCreate == nil {
		return finishNothing, nil
	}
	finish, err := s.hooks.BeginCreate(ctx, s, obj, opts)
	return once(finish), err
}

func (s *Store) beginUpdate(ctx context.Context, obj, old runtime.Object, opts WriteOptions) (finishFunc, error) {
	if s.hooks.BeginUpdate == nil {
		return finishNothing, nil
	}
	finish, err := s.hooks.BeginUpdate(ctx, s, obj, old, opts)
	return once(finish), err
}

// once makes what a begin-hook returned a finishFunc. It runs although the
// client may have gone meanwhile.
func once(finish func(context.Context, bool)) finishFunc {
	if finish == nil {
		return finishNothing
	}
	var done sync.Once
	return func(ctx context.Context, written bool) {
		done.Do(func() { finish(context.WithoutCancel(ctx), written) })
	}
}

// after runs an after-hook, if there is one, of a write that has happened: that
// the client has gone meanwhile does not matter.
func (s *Store) after(ctx context.Context, hook func(context.Context, *Store, runtime.Object), obj runtime.Object) {
	if hook != nil {
		hook(context.WithoutCancel(ctx), s, obj)
	}
}

// wasWritten tells a begin-hook what to believe. A write whose outcome is
// unknown counts as done: an address kept for nothing is a lesser evil than
// one that two objects hold.
func wasWritten(err error, opts WriteOptions) bool {
	return !opts.DryRun && (err == nil || errors.Is(err, storage.ErrUnknownOutcome))
}
