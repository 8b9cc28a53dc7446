package api

import (
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// maxOperations is how many operations one JSON patch may contain.
const maxOperations = 10000

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
	document, err := jsonObject(p.call.header(), current)
	if err != nil {
		return nil, nil, err
	}
	patched, err := operations.Apply(document)
	if err != nil {
		return nil, nil, genericError(http.StatusUnprocessableEntity, err.Error())
	}
	return p.decodePatched(patched, odd)
}

func (p *patch) oddOperations() ([]error, error) {
	if !p.strict() {
		return nil, nil
	}
	var operations []operation
	odd, err := kjson.UnmarshalStrict(p.data, &operations)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	for i := range odd {
		odd[i] = fmt.Errorf("json patch %w", odd[i])
	}
	return odd, nil
}
