package registry

import (
	"context"

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
	Store           *Store
	Subresource     string
	Namespace, Name string
	// Object is nil for deletions; a mutating step may change it.
	Object runtime.Object
	// OldObject is nil for creates and must not be written to.
	OldObject runtime.Object
	Options   WriteOptions
}

// detached returns the same with a copy of the object, for those who may look
// and not touch.
func (a *Attributes) detached() *Attributes {
	out := *a
	if a.Object != nil {
		out.Object = a.Object.DeepCopyObject()
	}
	return &out
}

// AdmissionStep is one step of the chain. Both functions may be nil, and may
// run several times for one request.
type AdmissionStep struct {
	Name string
	// Admit may change attributes.Object or refuse the write.
	Admit func(ctx context.Context, attributes *Attributes) error
	// Validate may refuse it; it runs after all Admit and the kind's own
	// validation.
	Validate func(ctx context.Context, attributes *Attributes) error
}

// Chain is an ordered list of steps. The zero value admits everything.
type Chain []AdmissionStep

// Admit runs the mutating part of every step in order.
func (c Chain) Admit(ctx context.Context, attributes *Attributes) error {
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

// Validate runs the validating part of every step in order. The steps see a
// copy of the object.
func (c Chain) Validate(ctx context.Context, attributes *Attributes) error {
	var seen *Attributes
	for _, step := range c {
		if step.Validate == nil {
			continue
		}
		if seen == nil {
			seen = attributes.detached()
		}
		if err := step.Validate(ctx, seen); err != nil {
			return err
		}
	}
	return nil
}
