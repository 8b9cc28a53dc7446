package kind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/registry"
)

// envelope is the prefix of every value in protobuf. A runtime.Unknown follows.
var envelope = [4]byte{'k', '8', 's', 0}

// Codec encodes and decodes objects at rest with the bytes of kube-apiserver. It decodes protobuf
// and JSON, whichever it encodes, and every version in More, because an upgraded cluster has old
// values. Decoded objects have no apiVersion and kind.
type Codec struct {
	// Kind of the encoded objects.
	Kind schema.GroupVersionKind
	// New returns a zero object of the kind.
	New func() runtime.Object
	// JSON makes Encode return JSON.
	JSON bool
	// Restore sets the fields of a decoded object that its encoding leaves out. Nil: none.
	Restore func(obj runtime.Object)
	// Default sets the defaults of a value that was not encoded by Encode, and may have been
	// written by another program or in another version. Nil: none.
	Default func(obj runtime.Object)
	// More are versions of the same group that Decode converts from.
	More []registry.Version
}

// Encode returns the bytes of an object.
func (c *Codec) Encode(obj runtime.Object) ([]byte, error) {
	if c.JSON {
		return c.encodeJSON(obj)
	}
	message, ok := obj.(runtime.ProtobufMarshaller)
	if !ok {
		return nil, fmt.Errorf("encode %s: %T has no protobuf encoding", c.Kind, obj)
	}
	apiVersion, kind := c.Kind.ToAPIVersionAndKind()
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}}
	size := message.Size()
	// The body follows a tag and a length of at most ten bytes.
	data := make([]byte, len(envelope)+unknown.Size()+size+11)
	n, err := unknown.NestedMarshalTo(data[copy(data, envelope[:]):], message, uint64(size))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.Kind, err)
	}
	return data[:len(envelope)+n], nil
}

func (c *Codec) encodeJSON(obj runtime.Object) ([]byte, error) {
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(c.Kind)
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.Kind, err)
	}
	return append(data, '\n'), nil
}

// Decode returns the object of bytes that Encode or a kube-apiserver wrote.
func (c *Codec) Decode(data []byte) (runtime.Object, error) {
	obj, err := c.decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", c.Kind, err)
	}
	if c.Restore != nil {
		c.Restore(obj)
	}
	return obj, nil
}

func (c *Codec) decode(data []byte) (runtime.Object, error) {
	if message, ok := c.open(data); ok {
		obj := c.New()
		return obj, unmarshal(message, obj)
	}
	obj, err := c.decodeUnusual(data)
	if err == nil && c.Default != nil {
		c.Default(obj)
	}
	return obj, err
}

func (c *Codec) decodeUnusual(data []byte) (runtime.Object, error) {
	if rest, ok := bytes.CutPrefix(data, envelope[:]); ok {
		return c.decodeProtobuf(rest)
	}
	var head runtime.TypeMeta
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	return c.into(head, func(obj runtime.Object) error {
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, obj); err != nil {
			return err
		}
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return nil
	})
}

// decodeProtobuf decodes other versions and other envelopes than those that Encode writes.
func (c *Codec) decodeProtobuf(data []byte) (runtime.Object, error) {
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(data); err != nil {
		return nil, err
	}
	return c.into(unknown.TypeMeta, func(obj runtime.Object) error { return unmarshal(unknown.Raw, obj) })
}

func unmarshal(data []byte, obj runtime.Object) error {
	message, ok := obj.(interface{ Unmarshal(data []byte) error })
	if !ok {
		return fmt.Errorf("%T has no protobuf encoding", obj)
	}
	return message.Unmarshal(data)
}

// into fills an object of the version in head and returns it converted to the hub.
func (c *Codec) into(head runtime.TypeMeta, fill func(runtime.Object) error) (runtime.Object, error) {
	kind := schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	if kind == c.Kind {
		obj := c.New()
		return obj, fill(obj)
	}
	for _, v := range c.More {
		if kind.Version != v.Name || kind.GroupKind() != c.Kind.GroupKind() {
			continue
		}
		obj := v.New()
		if err := fill(obj); err != nil {
			return nil, err
		}
		return v.ToHub(obj)
	}
	if head.Kind == "" {
		return nil, errors.New("the value names no kind")
	}
	return nil, fmt.Errorf("the value is of kind %s", kind)
}
