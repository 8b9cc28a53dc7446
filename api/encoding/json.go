package encoding

import (
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// JSON encodes an object under a type header. The document ends with a newline.
func JSON(header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	bytes, err := jsonBody(obj)
	if err != nil {
		return nil, err
	}
	return jsonWrap(nil, header, Body{bytes: bytes}).join(), nil
}

// jsonBody encodes an object without apiVersion and kind.
func jsonBody(obj runtime.Object) ([]byte, error) {
	obj = withoutHeader(obj)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return json.Marshal(u.Object) // its own method would encode it twice
	}
	return json.Marshal(obj)
}

// withoutHeader returns obj, or a shallow copy of it without apiVersion and kind. obj is shared
// and cannot be changed in place.
func withoutHeader(obj runtime.Object) runtime.Object {
	if obj.GetObjectKind().GroupVersionKind().Empty() {
		return obj
	}
	out := registry.ShallowCopy(obj)
	registry.ClearKind(out)
	return out
}

// appendJSONHeader appends {"kind":...,"apiVersion":... without the closing brace. Neither value
// needs escaping.
func appendJSONHeader(dst []byte, header metav1.TypeMeta) []byte {
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, header.Kind...)
	if header.APIVersion != "" { // it is empty in the discovery document of the legacy group
		dst = append(append(dst, `","apiVersion":"`...), header.APIVersion...)
	}
	return append(dst, '"')
}

// appendJSONStart appends the beginning of a body under a type header and returns the rest of the
// body.
func appendJSONStart(dst []byte, header metav1.TypeMeta, body []byte) (start, rest []byte) {
	if header == (metav1.TypeMeta{}) {
		return dst, body
	}
	dst = appendJSONHeader(dst, header)
	if len(body) > len("{}") {
		dst = append(dst, ',')
	}
	return dst, body[1:]
}

var newline, frameEnd, listEnd = []byte("\n"), []byte("}\n"), []byte("]}\n")

func jsonWrap(dst []byte, header metav1.TypeMeta, b Body) Document {
	start, rest := appendJSONStart(dst, header, b.bytes)
	return Document{start, rest, newline}
}

// metadata returns the JSON value of a list's metadata.
func (l List) metadata() any {
	if !l.ShowEmptyMeta {
		return l.Meta
	}
	return struct {
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
		ResourceVersion    string `json:"resourceVersion"`
	}{l.Meta.Continue, l.Meta.RemainingItemCount, l.Meta.ResourceVersion}
}

func jsonList(w io.Writer, l List) error {
	meta, err := json.Marshal(l.metadata())
	if err != nil {
		return err
	}
	buf := appendJSONHeader(nil, l.Header)
	buf = append(append(buf, `,"metadata":`...), meta...)
	if l.columns != nil {
		buf = append(append(buf, `,"columnDefinitions":`...), l.columns...)
	}
	buf = append(append(append(buf, `,"`...), l.itemsKey()...), `":`...)
	if l.isNull() {
		return Document{start: append(buf, "null}\n"...)}.Write(w)
	}
	buf = append(buf, '[')
	first := true
	for b, err := range l.Items {
		if err != nil {
			return err
		}
		if !first {
			buf = append(buf, ',')
		}
		first = false
		item := Document{}
		item.start, item.rest = appendJSONStart(buf, l.ItemHeader, b.bytes)
		if err := item.Write(w); err != nil {
			return err
		}
		buf = item.start[:0]
	}
	return Document{start: buf, end: listEnd}.Write(w)
}

// jsonFrame makes a line of a watch: {"type":"ADDED","object":{...}}
func jsonFrame(dst []byte, eventType string, header metav1.TypeMeta, b Body) Document {
	dst = append(append(append(dst, `{"type":"`...), eventType...), `","object":`...)
	start, rest := appendJSONStart(dst, header, b.bytes)
	return Document{start, rest, frameEnd}
}
