package crd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
)

// Encode returns the bytes at rest: JSON in the storage version.
func (v *version) Encode(obj runtime.Object) ([]byte, error) {
	stored := v.definition.storage
	u, err := v.to(context.Background(), stored, content(obj))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", v.kind(), err)
	}
	data, err := json.Marshal(stored.withKind(u.Object))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", v.kind(), err)
	}
	return append(data, '\n'), nil
}

// Decode returns the object in this version. It may be stored in another one.
func (v *version) Decode(data []byte) (runtime.Object, error) {
	return v.DecodeContext(context.Background(), data)
}

// DecodeContext implements storage.ContextCodec, because a conversion webhook may not respond.
func (v *version) DecodeContext(ctx context.Context, data []byte) (runtime.Object, error) {
	u, err := v.decode(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", v.kind(), err)
	}
	return u, nil
}

// decodeStored decodes the bytes at rest. kube-apiserver stores CBOR with the feature gate
// CBORServingAndStorage, and reads it without the gate too.
func decodeStored(data []byte) (object map[string]any, err error) {
	const selfDescribedCBOR = "\xd9\xd9\xf7"
	if bytes.HasPrefix(data, []byte(selfDescribedCBOR)) {
		err = direct.Unmarshal(data, &object)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &object)
	}
	return object, err
}

func (v *version) decode(ctx context.Context, data []byte) (*unstructured.Unstructured, error) {
	object, err := decodeStored(data)
	if err != nil {
		return nil, err
	}
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	stored := v.definition.version(gv.Version)
	if gv.Group != v.group || kind != v.names.Kind || stored == nil {
		return nil, fmt.Errorf("the value is of kind %s in version %s", kind, apiVersion)
	}
	delete(object, "apiVersion")
	delete(object, "kind")
	if _, err := stored.pruneContent(object, pruneOptions{repair: true}); err != nil {
		return nil, err
	}
	stored.defaultContent(object)
	return stored.to(ctx, v, object)
}

// withKind returns a copy of the object with its apiVersion and kind. The fields are shared.
func (v *version) withKind(object map[string]any) map[string]any {
	out := maps.Clone(object)
	out["apiVersion"], out["kind"] = v.apiVersion(), v.names.Kind
	return out
}

// to converts an object to another version. It does not modify the object. The result may share
// memory with it.
func (v *version) to(ctx context.Context, other *version, object map[string]any) (*unstructured.Unstructured, error) {
	if v == other {
		return &unstructured.Unstructured{Object: object}, nil
	}
	converted, err := v.converter.convert(ctx, v.withKind(object), other.apiVersion())
	if err != nil {
		return nil, err
	}
	out := runtime.DeepCopyJSON(converted)
	delete(out, "apiVersion")
	delete(out, "kind")
	if _, err := other.pruneContent(out, pruneOptions{}); err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: out}, nil
}
