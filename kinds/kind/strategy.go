package kind

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

// What a write of a resource, and one of its status, leaves as it was.
var exceptStatus, exceptSpec = Except("status"), Except("spec")

// builder holds what the functions of one resource share.
type builder struct {
	Definition
	layout func() layout // computed once, on first use
}

func newBuilder(d Definition) builder {
	return builder{Definition: d, layout: sync.OnceValue(func() layout {
		return layoutOf(reflect.TypeOf(d.Object).Elem())
	})}
}

func (b builder) strategy() registry.Strategy {
	s := b.Strategy
	if s.Create.ValidateName == nil {
		s.Create.ValidateName = validation.NameIsDNSSubdomain
	}
	s.Create.Prepare = b.prepareCreate
	s.Update.Prepare = b.prepareUpdate
	if b.Finalizers != nil {
		s.Create.Validate, s.Update.Validate = b.validateCreate, b.validateUpdate
	}
	if s.Update.Owns == nil && b.Status {
		s.Update.Owns = exceptStatus
	}
	return s
}

func (b builder) validateCreate(ctx context.Context, obj runtime.Object) field.ErrorList {
	errs := b.Finalizers(objectMeta(obj))
	if own := b.Strategy.Create.Validate; own != nil {
		errs = append(errs, own(ctx, obj)...)
	}
	return errs
}

func (b builder) validateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	errs := b.Finalizers(objectMeta(obj))
	if own := b.Strategy.Update.Validate; own != nil {
		errs = append(errs, own(ctx, obj, old)...)
	}
	return errs
}

func (b builder) prepareCreate(ctx context.Context, obj runtime.Object) {
	if b.Status && !b.StatusOnCreate {
		b.layout().clearStatus(obj)
	}
	if b.Generation && !b.FromZero {
		objectMeta(obj).SetGeneration(1)
	}
	if own := b.Strategy.Create.Prepare; own != nil {
		own(ctx, obj)
	}
}

func (b builder) prepareUpdate(ctx context.Context, obj, old runtime.Object) {
	if b.Status {
		b.layout().copyStatus(obj, old)
	}
	if own := b.Strategy.Update.Prepare; own != nil {
		own(ctx, obj, old)
	}
	b.countGeneration(obj, old)
}

// countGeneration runs last: a spec which the kind has put back is no change.
func (b builder) countGeneration(obj, old runtime.Object) {
	generation := objectMeta(old).GetGeneration()
	if b.Generation && b.changed(obj, old) {
		generation++
	}
	objectMeta(obj).SetGeneration(generation)
}

func (b builder) changed(obj, old runtime.Object) bool {
	if b.Changed != nil {
		return b.Changed(obj, old)
	}
	return b.layout().specChanged(obj, old)
}

func (b builder) statusStrategy() registry.UpdateStrategy {
	s := b.StatusStrategy
	s.AllowUnconditional = s.AllowUnconditional || b.Strategy.Update.AllowUnconditional
	s.Prepare = b.prepareStatus
	if s.Owns == nil {
		s.Owns = exceptSpec
	}
	return s
}

func (b builder) prepareStatus(ctx context.Context, obj, old runtime.Object) {
	b.layout().keepAllButStatus(obj, old)
	objectMeta(obj).SetGeneration(objectMeta(old).GetGeneration())
	if own := b.StatusStrategy.Prepare; own != nil {
		own(ctx, obj, old)
	}
}

// objectMeta panics for an object without metadata: no kind can be defined
// with one.
func objectMeta(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err)
	}
	return m
}
