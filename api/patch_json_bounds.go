package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

const (
	// maxOperations is the maximum number of operations in a JSON patch.
	maxOperations = 10000
	// operationBatch is the number of operations between two checks of the context.
	operationBatch = 1000
	// maxCopiedBytes limits the sum of the sizes of copied values, as in kube-apiserver: copies of
	// copies grow exponentially.
	maxCopiedBytes = 3 << 20
	// maxEncodedBytes limits the sum of the document sizes at operations that are applied alone.
	maxEncodedBytes = 128 << 20
	// maxPatchedDepth limits the nesting of a patched document: encoding it takes time quadratic in
	// the depth, and a move or copy can double the depth.
	maxPatchedDepth = 1000
	// maxMovedItems limits the items of lists that operations move: each change of the length of a
	// list copies the list.
	maxMovedItems = 1 << 25
)

// patchRun applies the operations of a JSON patch in batches. Batches are as long as the bounds on
// the document hold, without decoding it for each operation.
type patchRun struct {
	document []byte
	shape    jsonShape // an upper bound for the document after the next batch
	maxDepth int
	copied   int // bytes of values
	encoded  int // bytes of documents
	moved    int // items of lists
}

// applyOperations applies a patch. It checks ctx and the limits before each batch.
func applyOperations(ctx context.Context, operations jsonpatch.Patch, document []byte) ([]byte, error) {
	run := &patchRun{document: document, shape: shapeOf(document)}
	run.maxDepth = max(maxPatchedDepth, run.shape.depth)
	for len(operations) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := run.nextBatch(operations)
		if err != nil {
			return nil, err
		}
		if run.document, err = operations[:n].Apply(run.document); err != nil {
			return nil, err
		}
		if run.shape = shapeOf(run.document); run.shape.depth > run.maxDepth {
			return nil, fmt.Errorf("the patched object is nested more than %d levels deep", run.maxDepth)
		}
		operations = operations[n:]
	}
	return run.document, nil
}

// nextBatch returns the number of operations that are applied together. Copies, and operations that
// may exceed the maximum depth, are applied alone.
func (run *patchRun) nextBatch(operations jsonpatch.Patch) (int, error) {
	for i, o := range operations[:min(len(operations), operationBatch)] {
		shape := run.shape.after(o)
		isAlone := o.Kind() == "copy" || shape.depth > run.maxDepth
		if isAlone && i > 0 {
			return i, nil
		}
		run.shape = shape
		if path, _ := o.Path(); isListIndex(path) {
			if run.moved += shape.longest; run.moved > maxMovedItems {
				return 0, fmt.Errorf("the operations of the patch move more than %d items of lists", maxMovedItems)
			}
		}
		if isAlone {
			return 1, run.countAlone(o)
		}
	}
	return min(len(operations), operationBatch), nil
}

// countAlone counts the bytes of an operation that is applied alone.
func (run *patchRun) countAlone(o jsonpatch.Operation) error {
	if run.encoded += len(run.document); run.encoded > maxEncodedBytes {
		return fmt.Errorf("the patch copies values in documents of more than %d bytes together", maxEncodedBytes)
	}
	if o.Kind() != "copy" {
		return nil
	}
	from, _ := o.From() // Apply returns the error
	if run.copied += encodedSize(run.document, from); run.copied > maxCopiedBytes {
		return jsonpatch.NewAccumulatedCopySizeError(maxCopiedBytes, int64(run.copied))
	}
	return nil
}

// encodedSize returns the size of the encoded value at a JSON pointer, or 0 if there is none.
func encodedSize(document []byte, pointer string) int {
	tokens := strings.Split(pointer, "/")
	value := json.RawMessage(document)
	for _, token := range tokens[1:] {
		value = memberOf(value, pointerToken.Replace(token))
	}
	if len(tokens) == 1 || value == nil || string(value) == "null" {
		return 0
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return 0
	}
	return len(encoded)
}

// pointerToken decodes a token of a JSON pointer.
var pointerToken = strings.NewReplacer("~1", "/", "~0", "~")

// memberOf returns the member of an object or the item of a list, or nil if there is none.
func memberOf(value json.RawMessage, token string) json.RawMessage {
	if len(value) > 0 && value[0] == '[' {
		var items []json.RawMessage
		i, err := strconv.Atoi(token)
		if err != nil || json.Unmarshal(value, &items) != nil {
			return nil
		}
		if i < 0 {
			i += len(items)
		}
		if i < 0 || i >= len(items) {
			return nil
		}
		return items[i]
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	return members[token]
}

// isListIndex reports whether the last token of a JSON pointer can be an index of a list.
func isListIndex(path string) bool {
	token := path[strings.LastIndexByte(path, '/')+1:]
	return token == "-" || token != "" && strings.Trim(token, "-0123456789") == ""
}

// jsonShape has the nesting of a JSON document and the number of items of its longest list.
type jsonShape struct{ depth, longest int }

// after returns an upper bound of the shape after an operation.
func (s jsonShape) after(o jsonpatch.Operation) jsonShape {
	path, _ := o.Path() // Apply returns the error
	parents := strings.Count(path, "/")
	switch o.Kind() {
	case "add", "replace":
		if value := o["value"]; value != nil {
			added := shapeOf(*value)
			s.depth, s.longest = max(s.depth, parents+added.depth), max(s.longest, added.longest)
		}
	case "move", "copy":
		s.depth += parents
	}
	s.longest++
	return s
}

// shapeOf returns the shape of a valid JSON document.
func shapeOf(data []byte) jsonShape {
	var shape jsonShape
	var open []int // the items of the lists around the position, 0 for an object
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			open = append(open, 0)
		case '[':
			open = append(open, 1)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case ',':
			if last := len(open) - 1; last >= 0 && open[last] > 0 {
				open[last]++
				shape.longest = max(shape.longest, open[last])
			}
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
		shape.depth = max(shape.depth, len(open))
	}
	return shape
}
