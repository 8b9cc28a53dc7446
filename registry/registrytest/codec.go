package registrytest

import (
	"bytes"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/miniapi/miniapi/storage"
)

// codec stores typed objects of one kind as protobuf.
type codec struct {
	kind       schema.GroupVersionKind
	serializer runtime.Serializer
}

var _ storage.Codec = codec{}

func newCodec(kind schema.GroupVersionKind) codec {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic("registrytest: " + err.Error())
		}
	}
	return codec{kind: kind, serializer: protobuf.NewSerializer(scheme, scheme)}
}

// Encode implements storage.Codec.
func (c codec) Encode(obj runtime.Object) ([]byte, error) {
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	var out bytes.Buffer
	if err := c.serializer.Encode(obj, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Decode implements storage.Codec.
func (c codec) Decode(data []byte) (runtime.Object, error) {
	obj, kind, err := c.serializer.Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	if *kind != c.kind {
		return nil, fmt.Errorf("stored is a %v, not a %v", kind, c.kind)
	}
	return obj, nil
}
