package api

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/miniapi/miniapi/api/encoding"
)

// checkCBOR returns a 400 for a body that is not CBOR, has no JSON form, or is nested too deep.
func checkCBOR(data []byte) error {
	if err := encoding.CheckCBORDepth(data); err != nil {
		return err
	}
	var value any
	if err := direct.Unmarshal(data, &value); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if _, err := json.Marshal(value); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	return nil
}

// applyCBOR is applyYAML for a configuration in CBOR, which has no duplicate keys.
func (p *patch) applyCBOR(ctx context.Context, current runtime.Object) (runtime.Object, error) {
	config := &unstructured.Unstructured{Object: map[string]any{}}
	if err := direct.Unmarshal(p.data, &config.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return p.applyConfiguration(ctx, current, config)
}
