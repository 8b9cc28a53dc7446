package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
)

// Metadata is the part of the metadata that controls the lifetime of an object.
type Metadata struct {
	UID             types.UID
	Deleting        bool
	Finalizers      []string
	OwnerReferences []metav1.OwnerReference
}

// HasFinalizer reports whether the object has a finalizer.
func (m *Metadata) HasFinalizer(name string) bool { return slices.Contains(m.Finalizers, name) }

var (
	protobufEnvelope = []byte("k8s\x00")
	cborTag          = []byte("\xd9\xd9\xf7") // self-described CBOR
	errMalformed     = errors.New("the stored object is malformed")
)

// Field numbers of runtime.Unknown, of every kind, and of metav1.ObjectMeta.
const (
	fieldRaw               protowire.Number = 2
	fieldMetadata          protowire.Number = 1
	fieldUID               protowire.Number = 5
	fieldDeletionTimestamp protowire.Number = 9
	fieldLabels            protowire.Number = 11
	fieldOwnerReferences   protowire.Number = 13
	fieldFinalizers        protowire.Number = 14
)

// ParseMetadata reads the metadata from the stored bytes of an object, in protobuf, JSON
// or CBOR. It does not decode the rest of the object, so it neither converts custom resources nor
// depends on their definition.
func ParseMetadata(data []byte) (Metadata, error) {
	if message, ok := bytes.CutPrefix(data, protobufEnvelope); ok {
		return parseProtobuf(message)
	}
	return parseJSON(asJSON(data))
}

// asJSON returns stored CBOR as JSON, and any other data as it is. kube-apiserver stores custom
// resources in CBOR with the feature gate CBORServingAndStorage.
func asJSON(data []byte) []byte {
	var value any
	if !bytes.HasPrefix(data, cborTag) || direct.Unmarshal(data, &value) != nil {
		return data
	}
	transcoded, err := json.Marshal(value)
	if err != nil {
		return data
	}
	return transcoded
}

func parseJSON(data []byte) (Metadata, error) {
	var obj struct {
		Metadata struct {
			UID               types.UID
			DeletionTimestamp *string
			Finalizers        []string
			OwnerReferences   []metav1.OwnerReference
		}
	}
	if err := json.Unmarshal(data, &obj); err != nil {
		return Metadata{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	m := &obj.Metadata
	return Metadata{
		UID: m.UID, Deleting: m.DeletionTimestamp != nil, Finalizers: m.Finalizers, OwnerReferences: m.OwnerReferences,
	}, nil
}

func parseProtobuf(unknown []byte) (Metadata, error) {
	metadata, err := metadataField(unknown)
	if err != nil {
		return Metadata{}, err
	}
	var m Metadata
	err = eachField(metadata, m.setField)
	return m, err
}

// metadataField returns the encoded metadata of an object in the raw bytes of a runtime.Unknown.
func metadataField(unknown []byte) ([]byte, error) {
	var raw []byte
	err := eachField(unknown, func(number protowire.Number, value []byte) error {
		if number == fieldRaw {
			raw = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The metadata is the first field, so the rest is not read.
	number, kind, tag := protowire.ConsumeTag(raw)
	if tag < 0 || number != fieldMetadata || kind != protowire.BytesType {
		return nil, errMalformed
	}
	metadata, n := protowire.ConsumeBytes(raw[tag:])
	if n < 0 {
		return nil, errMalformed
	}
	return metadata, nil
}

// encodedLabels returns the labels of a stored object in an encoding that equal labels share. It is
// empty for an object without labels and for a malformed object.
func encodedLabels(data []byte) string {
	message, ok := bytes.CutPrefix(data, protobufEnvelope)
	if !ok {
		var obj struct {
			Metadata struct{ Labels json.RawMessage }
		}
		_ = json.Unmarshal(asJSON(data), &obj) // a malformed object has no labels
		return string(obj.Metadata.Labels)
	}
	metadata, err := metadataField(message)
	if err != nil {
		return ""
	}
	var labels []byte
	_ = eachField(metadata, func(number protowire.Number, value []byte) error {
		if number == fieldLabels {
			labels = append(labels, value...)
		}
		return nil
	})
	return string(labels)
}

func (m *Metadata) setField(number protowire.Number, value []byte) error {
	switch number {
	case fieldUID:
		m.UID = types.UID(value)
	case fieldDeletionTimestamp:
		m.Deleting = true
	case fieldFinalizers:
		m.Finalizers = append(m.Finalizers, string(value))
	case fieldOwnerReferences:
		var ref metav1.OwnerReference
		if err := ref.Unmarshal(value); err != nil {
			return fmt.Errorf("%w: %w", errMalformed, err)
		}
		m.OwnerReferences = append(m.OwnerReferences, ref)
	}
	return nil
}

// eachField calls visit with each field of a message that has bytes as its value.
func eachField(message []byte, visit func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return errMalformed
		}
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if size < 0 {
			return errMalformed
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[tag:])
			if err := visit(number, value); err != nil {
				return err
			}
		}
		message = message[tag+size:]
	}
	return nil
}
