package storagetest

import (
	"bytes"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/miniapi/miniapi/storage"
)

// protobufCodec encodes typed objects like kube-apiserver, in the envelope that starts with
// k8s\x00.
type protobufCodec struct {
	gvk        schema.GroupVersionKind
	serializer runtime.Serializer
}

var _ storage.Codec = protobufCodec{}

func newPodCodec() (storage.Codec, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return protobufCodec{
		gvk:        corev1.SchemeGroupVersion.WithKind("Pod"),
		serializer: protobuf.NewSerializer(scheme, scheme),
	}, nil
}

func (c protobufCodec) Encode(obj runtime.Object) ([]byte, error) {
	obj = obj.DeepCopyObject() // the kind is set on a copy: obj must not change
	obj.GetObjectKind().SetGroupVersionKind(c.gvk)
	var out bytes.Buffer
	if err := c.serializer.Encode(obj, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (c protobufCodec) Decode(data []byte) (runtime.Object, error) {
	obj, gvk, err := c.serializer.Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	if *gvk != c.gvk {
		return nil, fmt.Errorf("the stored object is a %v, not a %v", gvk, c.gvk)
	}
	return obj, nil
}

// jsonCodec encodes unstructured objects as JSON, like custom resources.
type jsonCodec struct{}

var _ storage.Codec = jsonCodec{}

func (jsonCodec) Encode(obj runtime.Object) ([]byte, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("cannot encode a %T", obj)
	}
	return u.MarshalJSON()
}

func (jsonCodec) Decode(data []byte) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return u, nil
}
