package api

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/api/encoding"
)

// operation is an operation of a JSON patch, decoded to find unknown fields.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// applyJSON applies a JSON patch (RFC 6902).
func (p *patch) applyJSON(current runtime.Object) (runtime.Object, []error, error) {
	strictErrs, err := p.strictOperationErrors()
	if err != nil {
		return nil, nil, err
	}
	operations, err := jsonpatch.DecodePatch(p.data)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	document, err := encoding.JSON(p.call.header(), current)
	if err != nil {
		return nil, nil, err
	}
	patched, err := applyOperations(p.call.r.Context(), operations, document)
	if err != nil && p.call.r.Context().Err() != nil {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, encoding.GenericError(http.StatusUnprocessableEntity, err.Error())
	}
	return p.decodePatched(patched, strictErrs)
}

// fieldsOfJSON is the fieldsFunc of JSON patches. The limit of copied bytes depends on the size of
// the whole object.
func (p *patch) fieldsOfJSON(current runtime.Object) *fieldsPatch {
	var operations []operation
	if strictErrs, err := kjson.UnmarshalStrict(p.data, &operations); err != nil || len(strictErrs) > 0 || len(operations) > maxOperations {
		return nil
	}
	var pointers []string
	for _, o := range operations {
		switch o.Op {
		case "add", "remove", "replace", "test":
			pointers = append(pointers, o.Path)
		case "move":
			pointers = append(pointers, o.Path, o.From)
		default:
			return nil
		}
	}
	tree, ok := p.call.server.layouts.Pointers(current, pointers)
	if !ok {
		return nil
	}
	return &fieldsPatch{tree, func(document []byte) ([]byte, error) {
		decoded, err := jsonpatch.DecodePatch(p.data)
		if err != nil {
			return nil, err
		}
		return applyOperations(p.call.r.Context(), decoded, document)
	}}
}

// strictOperationErrors returns the errors of unknown and duplicate fields in the operations.
func (p *patch) strictOperationErrors() ([]error, error) {
	if !p.validatesFields() {
		return nil, nil
	}
	var operations []operation
	strictErrs, err := kjson.UnmarshalStrict(p.data, &operations)
	if err != nil {
		// The error contains the name of the Go type. Replace it with the name in kube-apiserver.
		text := strings.ReplaceAll(err.Error(), reflect.TypeFor[operation]().String(), "handlers.jsonPatchOp")
		return nil, apierrors.NewBadRequest("error decoding patch: " + text)
	}
	for i := range strictErrs {
		strictErrs[i] = fmt.Errorf("json patch %w", strictErrs[i])
	}
	return strictErrs, nil
}
