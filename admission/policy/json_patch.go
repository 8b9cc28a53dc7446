package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

var jsonPatchType = cel.ListType(types.NewObjectType(celmutation.JSONPatchTypeName))

// applyJSONPatch is the patch of a mutation with a JSON patch. If a test operation of the JSON
// patch fails, the object stays the same.
func applyJSONPatch(value ref.Val, s *subject) (runtime.Object, error) {
	patch, err := newJSONPatch(value)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(s.Object)
	if err != nil {
		return nil, fmt.Errorf("failed to create JSON patch: %w", err)
	}
	patched, err := patch.Apply(document)
	switch {
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return s.target.Decode(document)
	case err != nil:
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	obj, err := s.target.DecodeStrict(patched)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj, nil
}

// newJSONPatch converts a list of JSONPatch, the type that CEL has for operations.
func newJSONPatch(value ref.Val) (jsonpatch.Patch, error) {
	list, ok := value.(traits.Lister)
	if !ok {
		return nil, errors.New("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	patch := jsonpatch.Patch{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		element := it.Next()
		op, ok := element.(*celmutation.JSONPatchVal)
		if !ok {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of %T", element)
		}
		operation, err := newOperation(op)
		if err != nil {
			return nil, err
		}
		patch = append(patch, operation)
	}
	return patch, nil
}

func newOperation(from *celmutation.JSONPatchVal) (jsonpatch.Operation, error) {
	operation := jsonpatch.Operation{"op": quoted(from.Op), "path": quoted(from.Path)}
	if from.From != "" {
		operation["from"] = quoted(from.From)
	}
	if from.Val == nil {
		return operation, nil
	}
	if obj, ok := from.Val.(*dynamic.ObjectVal); ok {
		if err := obj.CheckTypeNamesMatchFieldPathNames(); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
	}
	// The JSON of a CEL value is the JSON of its protobuf value.
	value, err := from.Val.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err == nil {
		var text json.RawMessage
		text, err = json.Marshal(value)
		operation["value"] = &text
	}
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	return operation, nil
}

// quoted returns a JSON string.
func quoted(text string) *json.RawMessage {
	// Strings of CEL are valid UTF-8.
	encoded, _ := json.Marshal(text)
	return (*json.RawMessage)(&encoded)
}
