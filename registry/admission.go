package registry

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Operation is the admission operation of a write.
type Operation string

const (
	OperationCreate  Operation = "CREATE"
	OperationUpdate  Operation = "UPDATE"
	OperationDelete  Operation = "DELETE"
	OperationConnect Operation = "CONNECT"
)

// Attributes describe a request to the admission steps.
type Attributes struct {
	Operation   Operation
	Resource    *Resource
	Catalog     *Catalog
	Subresource string
	// Name is empty for the objects of a deleted collection.
	Namespace, Name string
	// Object is nil for deletions. A mutating step may change it.
	Object runtime.Object
	// OldObject is nil for creates. It must not be modified.
	OldObject runtime.Object
	Options   WriteOptions

	// Reinvocation is set in the second run of the mutating steps.
	Reinvocation bool
	// reinvoke and state pass from the first run to the second.
	reinvoke bool
	state    map[string]any
	// transaction is the transaction of the write, during validation.
	transaction *transaction
}

// Enlist adds a transaction of a validating step that writes other objects, as in charging a
// quota. It ends with the write, also if a step returns an error.
func (a *Attributes) Enlist(tx Transaction) { a.transaction.join(tx) }

// RequestReinvocation makes all mutating steps run a second time, so that the steps that ran
// managers the caller see its changes. There is no third run.
func (a *Attributes) RequestReinvocation() { a.reinvoke = true }

// SetState stores the state of a step for the second run.
func (a *Attributes) SetState(step string, value any) {
	if a.state == nil {
		a.state = map[string]any{}
	}
	a.state[step] = value
}

// State returns the state that the step has stored in this run or the previous one, or nil.
func (a *Attributes) State(step string) any { return a.state[step] }

// AdmissionStep is one step of a chain. Both functions may be nil and may run several times for
// one request.
type AdmissionStep struct {
	Name string
	// Admit may change attributes.Object or reject the request.
	Admit func(ctx context.Context, attributes *Attributes) error
	// Validate may reject the request and must not modify the objects. It runs after all Admit
	// functions and the validation of the kind. Its changes of other objects join the transaction
	// of the write with Enlist.
	Validate func(ctx context.Context, attributes *Attributes) error
}

// AdmissionObserver receives the duration and the error of each run of a chain, once for all of its
// mutating and once for all of its validating functions. Implementations are safe for concurrent
// use.
type AdmissionObserver interface {
	ObserveAdmit(attributes *Attributes, took time.Duration, err error)
	ObserveValidate(attributes *Attributes, took time.Duration, err error)
}

// Chain is an ordered list of steps. The zero value admits every request.
type Chain []AdmissionStep

// Admit runs the mutating functions in order, and all of them a second time if a step requests
// reinvocation.
func (c Chain) Admit(ctx context.Context, attributes *Attributes) error {
	if isAdmitted(ctx) {
		return nil
	}
	managers := managersOf(attributes.Object)
	err := c.admit(ctx, attributes)
	if err == nil && attributes.reinvoke {
		attributes.Reinvocation = true
		err = c.admit(ctx, attributes)
	}
	if err == nil {
		restoreInvalidManagers(ctx, attributes.Object, managers)
	}
	return err
}

func (c Chain) admit(ctx context.Context, attributes *Attributes) error {
	for _, step := range c {
		if step.Admit == nil {
			continue
		}
		if err := step.Admit(ctx, attributes); err != nil {
			return err
		}
	}
	return nil
}

// Validate runs the validating functions in order.
func (c Chain) Validate(ctx context.Context, attributes *Attributes) error {
	if isAdmitted(ctx) {
		return nil
	}
	for _, step := range c {
		if step.Validate == nil {
			continue
		}
		if err := step.Validate(ctx, attributes); err != nil {
			return err
		}
	}
	return nil
}

// optionsOfUpdate returns the UpdateOptions of a patch. It returns other options unchanged.
func optionsOfUpdate(sent runtime.Object) runtime.Object {
	patch, ok := sent.(*metav1.PatchOptions)
	if !ok {
		return sent
	}
	return &metav1.UpdateOptions{DryRun: patch.DryRun, FieldManager: patch.FieldManager, FieldValidation: patch.FieldValidation}
}

// optionsOfCreate converts the options of an update or a patch that creates an object.
func optionsOfCreate(sent runtime.Object) runtime.Object {
	create := &metav1.CreateOptions{}
	switch o := sent.(type) {
	case *metav1.UpdateOptions:
		create.DryRun, create.FieldManager, create.FieldValidation = o.DryRun, o.FieldManager, o.FieldValidation
	case *metav1.PatchOptions:
		create.DryRun, create.FieldManager, create.FieldValidation = o.DryRun, o.FieldManager, o.FieldValidation
	default:
		return sent
	}
	return create
}

// admit runs mutating admission and returns the object that results.
func (b *base) admit(ctx context.Context, a *Attributes) (runtime.Object, error) {
	a.Resource, a.Catalog = b.resource, b.catalog
	started := time.Now()
	err := b.catalog.config.Admission.Admit(ctx, a)
	if observer := b.catalog.config.AdmissionObserver; observer != nil && !isAdmitted(ctx) {
		observer.ObserveAdmit(a, time.Since(started), err)
	}
	return a.Object, err
}

// validateAdmission runs validating admission. The changes that its steps make to other objects
// end with tx, also after an error.
func (b *base) validateAdmission(ctx context.Context, tx *transaction, a *Attributes) error {
	a.Resource, a.Catalog, a.transaction = b.resource, b.catalog, tx
	started := time.Now()
	err := b.catalog.config.Admission.Validate(ctx, a)
	if observer := b.catalog.config.AdmissionObserver; observer != nil && !isAdmitted(ctx) {
		observer.ObserveValidate(a, time.Since(started), err)
	}
	return errorOfStep(err)
}

// action executes a request that stores no object of its own. obj is the object after mutating
// admission, validate runs validating admission on it.
type action func(ctx context.Context, obj runtime.Object, validate func() error) (runtime.Object, error)

// admitAction runs mutating admission and then the action, which runs validating admission. Writes
// by the action are not admitted again.
func (b *base) admitAction(ctx context.Context, a *Attributes, run action) (*storage.Entry, error) {
	obj, err := b.admit(ctx, a)
	if err != nil {
		return nil, err
	}
	tx := b.begin()
	defer tx.rollback(ctx)
	obj, err = run(withAdmitted(ctx), obj, func() error { return b.validateAdmission(ctx, tx, a) })
	tx.end(ctx, err, a.Options.DryRun)
	if err != nil {
		return nil, err
	}
	return computedEntry(obj), nil
}
