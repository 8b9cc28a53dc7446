package kind

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// Version is a served version other than the hub, with the Go type V. Hub is the type of the hub.
// ToHub and FromHub do not write to their argument; the result may share memory with it.
type Version[Hub, V Object] struct {
	Name       string
	Object     V
	List       runtime.Object
	Default    func(obj V)
	ToHub      func(obj V) Hub
	FromHub    func(obj Hub) (V, error)
	FieldLabel func(label, value string) (hubLabel, hubValue string, err error)
}

// Build returns the version with its types erased.
func (v Version[Hub, V]) Build() registry.Version {
	return registry.Version{
		Name:       v.Name,
		New:        v.Object.DeepCopyObject,
		NewList:    v.List.DeepCopyObject,
		Default:    erase(v.Default),
		FieldLabel: v.FieldLabel,
		ToHub:      func(obj runtime.Object) (runtime.Object, error) { return v.ToHub(obj.(V)), nil },
		FromHub:    func(obj runtime.Object) (runtime.Object, error) { return v.FromHub(obj.(Hub)) },
	}
}
