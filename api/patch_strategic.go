package api

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/api/encoding"
)

// impossibleStrategicPatches are the faults of a patch that could be read but
// does not fit the object; every other fault is a 400.
var impossibleStrategicPatches = []error{
	mergepatch.ErrNoListOfLists,
	mergepatch.ErrPatchContentNotMatchRetainKeys,
}

// maxPatchItems bounds each list of a strategic merge patch: to merge lists takes
// quadratic time.
const maxPatchItems = 10000

// applyStrategic applies a strategic merge patch: how lists are merged is
// written in the tags of the Go type.
func (p *patch) applyStrategic(current runtime.Object) (runtime.Object, []error, error) {
	changes, odd, err := p.strategicChanges()
	if err != nil {
		return nil, nil, err
	}
	original, err := runtime.DefaultUnstructuredConverter.ToUnstructured(current)
	if err != nil {
		return nil, nil, err
	}
	patched := p.call.newBody()
	merged, err := mergeMaps(original, changes, patched)
	if err != nil {
		return nil, nil, strategicError(err)
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(merged, patched, p.strict())
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		odd, err = append(odd, strict.Errors()...), nil
	}
	shown := fmt.Sprintf("%+v", changes)
	if err != nil {
		return nil, nil, invalidPatch(shown, err)
	}
	return patched, odd, p.refuseOdd(odd, shown)
}

// mergeMaps merges by the tags of a Go type. The library compares the keys of
// list items without looking what they are, and panics where they are maps.
func mergeMaps(original, changes map[string]any, tags runtime.Object) (merged map[string]any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the patch cannot be merged: %v", fault)
		}
	}()
	return strategicpatch.StrategicMergeMapPatch(original, changes, tags)
}

func (p *patch) strategicChanges() (changes map[string]any, odd []error, err error) {
	changes = map[string]any{}
	if p.strict() {
		odd, err = kjson.UnmarshalStrict(p.data, &changes)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(p.data, &changes)
	}
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if items := mostItems(changes); items > maxPatchItems {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum items in a list of a strategic merge patch is %d, got %d", maxPatchItems, items))
	}
	return changes, odd, nil
}

// mostItems returns the length of the longest list in a patch.
func mostItems(value any) int {
	most := 0
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			most = max(most, mostItems(member))
		}
	case []any:
		most = len(v)
		for _, item := range v {
			most = max(most, mostItems(item))
		}
	}
	return most
}

// strategicError: the object is well-formed, so what cannot be merged is the
// patch's fault.
func strategicError(err error) error {
	for _, impossible := range impossibleStrategicPatches {
		if errors.Is(err, impossible) {
			return encoding.GenericError(http.StatusUnprocessableEntity, err.Error())
		}
	}
	return apierrors.NewBadRequest(err.Error())
}
