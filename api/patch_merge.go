package api

import (
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/api/encoding"
)

// applyMerge applies a JSON merge patch (RFC 7386).
func (p *patch) applyMerge(current runtime.Object) (runtime.Object, []error, error) {
	var strictErrs []error
	if p.validatesFields() {
		var err error
		if strictErrs, err = kjson.UnmarshalStrict(p.data, &map[string]any{}); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
	}
	document, err := encoding.JSON(p.call.header(), current)
	if err != nil {
		return nil, nil, err
	}
	patched, err := jsonpatch.MergePatch(document, p.data)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if err != nil {
		return nil, nil, err
	}
	return p.decodePatched(patched, strictErrs)
}

// fieldsOfMerge is the fieldsFunc of JSON merge patches.
func (p *patch) fieldsOfMerge(current runtime.Object) *fieldsPatch {
	changes, strictErrs, err := p.changes()
	if err != nil || len(strictErrs) > 0 {
		return nil
	}
	tree, ok := p.call.server.layouts.Merge(current, changes)
	if !ok {
		return nil
	}
	return &fieldsPatch{tree, func(document []byte) ([]byte, error) { return jsonpatch.MergePatch(document, p.data) }}
}
