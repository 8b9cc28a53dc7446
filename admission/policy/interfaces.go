package policy

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/miniapi/miniapi/admission/match"
)

// interfaces are what JSON patches need to know of the kind of a target; for the
// rest they panic.
type interfaces struct {
	admission.ObjectInterfaces
	target *match.Target
}

// GetObjectCreater implements admission.ObjectInterfaces.
func (i interfaces) GetObjectCreater() runtime.ObjectCreater { return i }

// GetObjectTyper implements admission.ObjectInterfaces.
func (i interfaces) GetObjectTyper() runtime.ObjectTyper { return i }

// New implements runtime.ObjectCreater.
func (i interfaces) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	if kind != i.target.Kind {
		return nil, runtime.NewNotRegisteredErrForKind("admission", kind)
	}
	return i.target.New(), nil
}

// ObjectKinds implements runtime.ObjectTyper.
func (i interfaces) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{i.target.Kind}, false, nil
}

// Recognizes implements runtime.ObjectTyper.
func (i interfaces) Recognizes(kind schema.GroupVersionKind) bool { return kind == i.target.Kind }
