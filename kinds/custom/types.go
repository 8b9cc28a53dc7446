package custom

import (
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// compileTypes says how the fields of the objects belong together, of this
// version and of the others, since a manager may have written any of them.
func (v *version) compileTypes() (managedfields.TypeConverter, error) {
	return managedfields.NewDeducedTypeConverter(), nil
}
