package policy

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/miniapi/miniapi/admission/match"
)

// objectInterfaces implements the part of admission.ObjectInterfaces that JSON patches use, for
// the kind of a target. The other methods panic.
type objectInterfaces struct {
	admission.ObjectInterfaces
	target *match.Target
}

// GetObjectCreater implements admission.ObjectInterfaces.
func (i objectInterfaces) GetObjectCreater() runtime.ObjectCreater { return i }

// GetObjectTyper implements admission.ObjectInterfaces.
func (i objectInterfaces) GetObjectTyper() runtime.ObjectTyper { return i }

// New implements runtime.ObjectCreater.
func (i objectInterfaces) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	if kind != i.target.Kind {
		return nil, runtime.NewNotRegisteredErrForKind("admission", kind)
	}
	return i.target.New(), nil
}

// ObjectKinds implements runtime.ObjectTyper.
func (i objectInterfaces) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{i.target.Kind}, false, nil
}

// Recognizes implements runtime.ObjectTyper.
func (i objectInterfaces) Recognizes(kind schema.GroupVersionKind) bool { return kind == i.target.Kind }
