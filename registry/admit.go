package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// admit runs mutating admission and returns the object that results.
func (b *base) admit(ctx context.Context, a *Attributes) (runtime.Object, error) {
	a.Resource, a.Catalog = b.resource, b.catalog
	err := b.catalog.config.Admission.Admit(ctx, a)
	return a.Object, err
}

// validateAdmission runs validating admission. The changes that its steps make to other objects
// end with tx, also after an error.
func (b *base) validateAdmission(ctx context.Context, tx *transaction, a *Attributes) error {
	a.Resource, a.Catalog, a.transaction = b.resource, b.catalog, tx
	return errorOfStep(b.catalog.config.Admission.Validate(ctx, a))
}

// admitAction runs all admission and then the action of a request that stores no object itself.
// Writes by the action are not admitted again.
func (b *base) admitAction(ctx context.Context, a *Attributes, action func(context.Context, runtime.Object) (runtime.Object, error)) (*storage.Entry, error) {
	obj, err := b.admit(ctx, a)
	if err != nil {
		return nil, err
	}
	tx := b.begin()
	defer tx.rollback(ctx)
	if err := b.validateAdmission(ctx, tx, a); err != nil {
		return nil, err
	}
	obj, err = action(withAdmitted(ctx), obj)
	tx.end(ctx, err, a.Options.DryRun)
	if err != nil {
		return nil, err
	}
	return computedEntry(obj), nil
}
