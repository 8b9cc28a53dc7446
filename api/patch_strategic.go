package api

import (
	"encoding/json"
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

// unprocessableStrategicErrors are the errors of a well-formed patch that does not fit the object:
// a 422. All other errors are a 400.
var unprocessableStrategicErrors = []error{
	mergepatch.ErrNoListOfLists,
	mergepatch.ErrPatchContentNotMatchRetainKeys,
}

// maxPatchItems limits each list of a strategic merge patch: merging lists takes quadratic time.
const maxPatchItems = 10000

// applyStrategic applies a strategic merge patch. The tags of the Go type define how lists are
// merged.
func (p *patch) applyStrategic(current runtime.Object) (runtime.Object, []error, error) {
	changes, strictErrs, err := p.strategicChanges()
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
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(merged, patched, p.validatesFields())
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		strictErrs, err = append(strictErrs, strict.Errors()...), nil
	}
	if err == nil && len(strictErrs) == 0 {
		return patched, nil, nil
	}
	value := fmt.Sprintf("%+v", changes)
	if err != nil {
		return nil, nil, invalidPatch(value, err)
	}
	return patched, strictErrs, p.checkStrict(strictErrs, value)
}

// fieldsOfStrategic is the fieldsFunc of strategic merge patches.
func (p *patch) fieldsOfStrategic(current runtime.Object) *fieldsPatch {
	changes, strictErrs, err := p.strategicChanges()
	if err != nil || len(strictErrs) > 0 {
		return nil
	}
	tree, ok := p.call.server.layouts.StrategicMerge(current, changes)
	if !ok {
		return nil
	}
	return &fieldsPatch{tree, func(document []byte) ([]byte, error) {
		var original map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(document, &original); err != nil {
			return nil, err
		}
		merged, err := mergeMaps(original, changes, current)
		if err != nil {
			return nil, err
		}
		return json.Marshal(merged)
	}}
}

// mergeMaps merges maps by the tags of a Go type. strategicpatch compares the merge keys of list
// items without a type check and panics if they are maps.
func mergeMaps(original, changes map[string]any, tags runtime.Object) (merged map[string]any, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the patch cannot be merged: %v", reason)
		}
	}()
	return strategicpatch.StrategicMergeMapPatch(original, changes, tags)
}

// strategicChanges decodes the patch and limits its lists.
func (p *patch) strategicChanges() (changes map[string]any, strictErrs []error, err error) {
	changes, strictErrs, err = p.changes()
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if items := longestList(changes); items > maxPatchItems {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum items in a list of a strategic merge patch is %d, got %d", maxPatchItems, items))
	}
	return changes, strictErrs, nil
}

// longestList returns the length of the longest list that is merged by a patch. The keys to retain
// are a set.
func longestList(value any) int {
	longest := 0
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if key != "$retainKeys" {
				longest = max(longest, longestList(member))
			}
		}
	case []any:
		longest = len(v)
		for _, item := range v {
			longest = max(longest, longestList(item))
		}
	}
	return longest
}

// strategicError returns the 400 or 422 for a patch that cannot be merged. The object is
// well-formed, so the patch is the cause.
func strategicError(err error) error {
	for _, unprocessable := range unprocessableStrategicErrors {
		if errors.Is(err, unprocessable) {
			return encoding.GenericError(http.StatusUnprocessableEntity, err.Error())
		}
	}
	return apierrors.NewBadRequest(err.Error())
}
