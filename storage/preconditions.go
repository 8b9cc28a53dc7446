package storage

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
)

// Preconditions are conditions on the stored object for a write. Nil fields and a nil
// *Preconditions always hold.
type Preconditions struct {
	UID             *types.UID
	ResourceVersion *string
}

// Check returns an error that wraps ErrPrecondition and names the first field that does not hold.
// It has the text of kube-apiserver. If decoding waits for another process, Check waits until ctx
// ends at most.
func (p *Preconditions) Check(ctx context.Context, current *Entry) error {
	if p == nil {
		return nil
	}
	obj, err := current.ObjectContext(ctx)
	if err != nil {
		return err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	if p.UID != nil && *p.UID != accessor.GetUID() {
		return fmt.Errorf("%w: UID in precondition: %v, UID in object meta: %v", ErrPrecondition, *p.UID, accessor.GetUID())
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != accessor.GetResourceVersion() {
		return fmt.Errorf("%w: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", ErrPrecondition, *p.ResourceVersion, accessor.GetResourceVersion())
	}
	return nil
}
