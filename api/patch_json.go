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
	// maxOperations is the maximum number of operations in a JSON patch.
	maxOperations = 10000
	// operationBatch is the number of operations between two checks of the context.
	operationBatch = 1000
	// maxCopiedBytes limits the sum of the document sizes at the copy operations of a patch: copies
	// of copies grow exponentially.
	maxCopiedBytes = 16 << 20
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

// applyOperations applies a patch in batches. A batch ends after a copy or after operationBatch
// operations; ctx and the sum of copied bytes are checked before each batch.
func applyOperations(ctx context.Context, operations jsonpatch.Patch, document []byte) ([]byte, error) {
	copied := 0
	for len(operations) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := operations[:min(len(operations), operationBatch)]
		end := slices.IndexFunc(next, func(o jsonpatch.Operation) bool { return o.Kind() == "copy" }) + 1
		if end == 0 {
			end = len(next)
		} else if copied += len(document); copied > maxCopiedBytes {
			return nil, fmt.Errorf("the copies of the patch add up to more than %d bytes", maxCopiedBytes)
		}
		var err error
		if document, err = operations[:end].Apply(document); err != nil {
			return nil, err
		}
		operations = operations[end:]
	}
	return document, nil
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
