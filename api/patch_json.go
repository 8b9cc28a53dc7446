package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/api/encoding"
)

const (
	// maxOperations is how many operations one JSON patch may contain.
	maxOperations = 10000
	// stepOperations of a JSON patch are applied without a look at the context.
	stepOperations = 1000
	// maxPatchWork bounds, in bytes, the documents that a patch with copies goes
	// through: copies of copies grow without bound.
	maxPatchWork = 16 << 20
)

// operation is one step of a JSON patch, for finding odd fields.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// applyJSON applies a JSON patch (RFC 6902).
func (p *patch) applyJSON(current runtime.Object) (runtime.Object, []error, error) {
	odd, err := p.oddOperations()
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
	return p.decodePatched(patched, odd)
}

// applyOperations applies a patch in steps that end with a copy, or after
// stepOperations, and checks the size of the document and ctx before each.
func applyOperations(ctx context.Context, operations jsonpatch.Patch, document []byte) ([]byte, error) {
	work := 0
	for len(operations) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := operations[:min(len(operations), stepOperations)]
		end := slices.IndexFunc(next, func(o jsonpatch.Operation) bool { return o.Kind() == "copy" }) + 1
		if end == 0 {
			end = len(next)
		} else if work += len(document); work > maxPatchWork {
			return nil, fmt.Errorf("the copies of the patch add up to more than %d bytes", maxPatchWork)
		}
		var err error
		if document, err = operations[:end].Apply(document); err != nil {
			return nil, err
		}
		operations = operations[end:]
	}
	return document, nil
}

// oddOperations finds fields that operations do not have.
func (p *patch) oddOperations() ([]error, error) {
	if !p.strict() {
		return nil, nil
	}
	var operations []operation
	odd, err := kjson.UnmarshalStrict(p.data, &operations)
	if err != nil {
		// The error names the Go type; clients know it under this name.
		text := strings.ReplaceAll(err.Error(), reflect.TypeFor[operation]().String(), "handlers.jsonPatchOp")
		return nil, apierrors.NewBadRequest("error decoding patch: " + text)
	}
	for i := range odd {
		odd[i] = fmt.Errorf("json patch %w", odd[i])
	}
	return odd, nil
}
