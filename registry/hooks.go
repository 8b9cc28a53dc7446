package registry

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// finishFunc ends what a begin-hook began. It is called exactly once.
type finishFunc func(ctx context.Context, written bool)

func finishNothing(context.Context, bool) {}

func (s *Store) beginCreate(ctx context.Context, obj runtime.Object, opts WriteOptions) (finishFunc, error) {
	if s.resource.Strategy.Hooks.BeginCreate == nil {
		return finishNothing, nil
	}
	return orNothing(s.resource.Strategy.Hooks.BeginCreate(ctx, obj, opts))
}

func (s *Store) beginUpdate(ctx context.Context, obj, old runtime.Object, opts WriteOptions) (finishFunc, error) {
	if s.resource.Strategy.Hooks.BeginUpdate == nil {
		return finishNothing, nil
	}
	return orNothing(s.resource.Strategy.Hooks.BeginUpdate(ctx, obj, old, opts))
}

func orNothing(finish func(context.Context, bool), err error) (finishFunc, error) {
	if err != nil || finish == nil {
		return finishNothing, err
	}
	return finish, nil
}

// wasWritten tells a begin-hook what to believe. A write whose outcome is
// unknown counts as done: an address kept for nothing is a lesser evil than
// one that two objects hold.
func wasWritten(err error, opts WriteOptions) bool {
	return !opts.DryRun && (err == nil || errors.Is(err, storage.ErrUnknownOutcome))
}
