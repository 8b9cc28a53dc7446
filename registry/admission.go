package registry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Operation is what a write does, in the terms of admission.
type Operation string

const (
	OperationCreate  Operation = "CREATE"
	OperationUpdate  Operation = "UPDATE"
	OperationDelete  Operation = "DELETE"
	OperationConnect Operation = "CONNECT"
)

// Attributes is what admission sees of a write.
type Attributes struct {
	Operation       Operation
	Resource        *Resource
	Catalog         *Catalog
	Subresource     string
	Namespace, Name string
	// Object is nil for deletions; a mutating step may change it.
	Object runtime.Object
	// OldObject is nil for creates and must not be written to.
	OldObject runtime.Object
	Options   WriteOptions

	// Again is set in the second run of the mutating steps.
	Again bool
	// runAgain and notes pass from the first run to the second.
	runAgain bool
	notes    map[string]any
	// transaction is that of the write, in the validating steps.
	transaction *transaction
}

// Enlist is for validating steps that write elsewhere, as in charging a quota: tx
// ends with the write, also if a step returns an error.
func (a *Attributes) Enlist(tx Transaction) { a.transaction.join(tx) }

// RunAgain has all mutating steps run a second time, so that those which ran
// before the caller see what it has changed. There is no third time.
func (a *Attributes) RunAgain() { a.runAgain = true }

// Note keeps what a step has to know in the second run, by its name.
func (a *Attributes) Note(step string, value any) {
	if a.notes == nil {
		a.notes = map[string]any{}
	}
	a.notes[step] = value
}

// Noted returns what the step noted in this run or the one before, or nil.
func (a *Attributes) Noted(step string) any { return a.notes[step] }

// AdmissionStep is one step of the chain. Both functions may be nil, and may
// run several times for one request.
type AdmissionStep struct {
	Name string
	// Admit may change attributes.Object or refuse the write.
	Admit func(ctx context.Context, attributes *Attributes) error
	// Validate may refuse it, and must not write to the objects; it runs after
	// all Admit and the kind's own validation. Its changes of other objects are
	// part of the write's transaction, see Enlist.
	Validate func(ctx context.Context, attributes *Attributes) error
}

// Chain is an ordered list of steps. The zero value admits everything.
type Chain []AdmissionStep

// Admit runs the mutating part of every step in order, and all of them once
// more if one asks for it.
func (c Chain) Admit(ctx context.Context, attributes *Attributes) error {
	if isAdmitted(ctx) {
		return nil
	}
	before := managersOf(attributes.Object)
	err := c.admit(ctx, attributes)
	if err == nil && attributes.runAgain {
		attributes.Again = true
		err = c.admit(ctx, attributes)
	}
	if err == nil {
		keepManagers(ctx, attributes.Object, before)
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

// Validate runs the validating part of every step in order.
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

// optionsOfCreate are the options of an update or a patch that creates.
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
