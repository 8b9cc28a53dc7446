package bootstrap

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// collector encodes objects. It keeps the first error.
type collector struct {
	now     metav1.Time
	objects []Object
	err     error
}

// add sets the UID and creation time of obj and encodes it.
func (c *collector) add(obj runtime.Object) {
	if c.err != nil {
		return
	}
	object, err := c.encode(obj)
	if err != nil {
		c.err = err
		return
	}
	c.objects = append(c.objects, object)
}

func (c *collector) encode(obj runtime.Object) (Object, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return Object{}, err
	}
	resource, err := resourceOf(obj)
	if err != nil {
		return Object{}, err
	}
	accessor.SetUID(uuid.NewUUID())
	accessor.SetCreationTimestamp(c.now)
	value, err := resource.Codec.Encode(obj)
	if err != nil {
		return Object{}, err
	}
	key := "/" + resource.StoragePath + "/"
	if resource.Namespaced {
		key += accessor.GetNamespace() + "/"
	}
	return Object{Key: key + accessor.GetName(), Value: value}, nil
}

func resourceOf(obj runtime.Object) (*registry.Resource, error) {
	types, _, err := kinds.Scheme().ObjectKinds(obj)
	if err != nil {
		return nil, err
	}
	return resourceOfKind(types[0].GroupKind())
}

func resourceOfKind(kind schema.GroupKind) (*registry.Resource, error) {
	resource, ok := storedResources()[kind]
	if !ok {
		return nil, fmt.Errorf("no resource stores the kind %s", kind)
	}
	return resource, nil
}

// storedResources maps kinds to the built-in resources that are stored. It must not be modified.
var storedResources = sync.OnceValue(func() map[schema.GroupKind]*registry.Resource {
	index := map[schema.GroupKind]*registry.Resource{}
	for _, r := range kinds.Resources(feature.Default()) {
		if r.Virtual == nil {
			index[r.GroupKind()] = r
		}
	}
	return index
})
