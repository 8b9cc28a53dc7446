package api

import (
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// withoutHeader returns obj, or a shallow copy of it whose apiVersion and kind
// are empty. Objects are shared: theirs must not be cleared in place.
func withoutHeader(obj runtime.Object) runtime.Object {
	if obj.GetObjectKind().GroupVersionKind().Empty() {
		return obj
	}
	out := registry.Shallow(obj)
	registry.ClearKind(out)
	return out
}

// jsonBody encodes an object without apiVersion and kind: the part of it that
// is the same in gets, lists and watches.
func jsonBody(obj runtime.Object) ([]byte, error) {
	obj = withoutHeader(obj)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return json.Marshal(u.Object) // its own method would encode it twice
	}
	return json.Marshal(obj)
}

// appendJSONHeader appends {"kind":...,"apiVersion":... without the closing
// brace. Neither value needs escaping.
func appendJSONHeader(dst []byte, header metav1.TypeMeta) []byte {
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, header.Kind...)
	if header.APIVersion != "" { // as it is in the discovery of the legacy group
		dst = append(append(dst, `","apiVersion":"`...), header.APIVersion...)
	}
	return append(dst, '"')
}

// appendJSONStart appends what goes before a body under a type header, and
// returns the rest of the body that follows.
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

func jsonWrap(dst []byte, header metav1.TypeMeta, b encoded) document {
	start, rest := appendJSONStart(dst, header, b.bytes)
	return document{start, rest, newline}
}

func jsonObject(header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	bytes, err := jsonBody(obj)
	if err != nil {
		return nil, err
	}
	return jsonWrap(nil, header, encoded{bytes: bytes}).join(), nil
}

// metadata is what is encoded of a list's metadata.
func (l listing) metadata() any {
	if !l.allMeta {
		return l.meta
	}
	return struct {
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
		ResourceVersion    string `json:"resourceVersion"`
	}{l.meta.Continue, l.meta.RemainingItemCount, l.meta.ResourceVersion}
}

func jsonList(w io.Writer, l listing) error {
	meta, err := json.Marshal(l.metadata())
	if err != nil {
		return err
	}
	buf := appendJSONHeader(nil, l.header)
	buf = append(append(append(buf, `,"metadata":`...), meta...), `,"items":[`...)
	first := true
	for b, err := range l.items {
		if err != nil {
			return err
		}
		if !first {
			buf = append(buf, ',')
		}
		first = false
		item := document{}
		item.start, item.rest = appendJSONStart(buf, l.itemHeader, b.bytes)
		if err := item.writeTo(w); err != nil {
			return err
		}
		buf = item.start[:0]
	}
	return document{start: buf, end: listEnd}.writeTo(w)
}

// jsonFrame makes a line of a watch: {"type":"ADDED","object":{...}}
func jsonFrame(dst []byte, eventType string, header metav1.TypeMeta, b encoded) document {
	dst = append(append(append(dst, `{"type":"`...), eventType...), `","object":`...)
	start, rest := appendJSONStart(dst, header, b.bytes)
	return document{start, rest, frameEnd}
}
