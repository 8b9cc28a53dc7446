package api

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// withoutHeader returns obj, or a shallow copy of it whose apiVersion and kind
// are empty. Objects are shared: theirs must not be cleared in place.
func withoutHeader(obj runtime.Object) runtime.Object {
	if obj.GetObjectKind().GroupVersionKind().Empty() {
		return obj
	}
	value := reflect.ValueOf(obj).Elem()
	shallow := reflect.New(value.Type())
	shallow.Elem().Set(value)
	out := shallow.Interface().(runtime.Object)
	out.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return out
}

// jsonBody encodes an object without apiVersion and kind: the part of it that
// is the same in gets, lists and watches.
func jsonBody(obj runtime.Object) ([]byte, error) {
	return json.Marshal(withoutHeader(obj))
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

// spliceJSON puts a type header in front of a body.
func spliceJSON(dst []byte, header metav1.TypeMeta, body []byte) []byte {
	if header == (metav1.TypeMeta{}) {
		return append(dst, body...)
	}
	dst = appendJSONHeader(dst, header)
	if len(body) > len("{}") {
		dst = append(dst, ',')
	}
	return append(dst, body[1:]...)
}

func jsonObject(header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	body, err := jsonBody(obj)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(body)+len(header.Kind)+len(header.APIVersion)+len(`{"kind":"","apiVersion":"",`)+1)
	return append(spliceJSON(out, header, body), '\n'), nil
}

func jsonList(w io.Writer, l listing) error {
	meta, err := json.Marshal(l.meta)
	if err != nil {
		return err
	}
	buf := appendJSONHeader(nil, l.header)
	buf = append(append(append(buf, `,"metadata":`...), meta...), `,"items":[`...)
	first := true
	for obj, err := range l.items {
		if err != nil {
			return err
		}
		body, err := jsonBody(obj)
		if err != nil {
			return err
		}
		if !first {
			buf = append(buf, ',')
		}
		first = false
		if _, err := w.Write(spliceJSON(buf, l.itemHeader, body)); err != nil {
			return err
		}
		buf = buf[:0]
	}
	_, err = w.Write(append(buf, "]}\n"...))
	return err
}

// jsonFrame makes a line of a watch: {"type":"ADDED","object":{...}}
func jsonFrame(eventType string, object []byte) []byte {
	object = bytes.TrimSuffix(object, []byte("\n"))
	out := make([]byte, 0, len(object)+len(eventType)+len(`{"type":"","object":}`)+1)
	out = append(append(append(out, `{"type":"`...), eventType...), `","object":`...)
	return append(append(out, object...), "}\n"...)
}

func indentJSON(document []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSuffix(document, []byte("\n")), "", "  "); err != nil {
		return document
	}
	return out.Bytes()
}

func yamlObject(header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	document, err := jsonObject(header, obj)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(document)
}

func yamlList(w io.Writer, l listing) error {
	var document bytes.Buffer
	if err := jsonList(&document, l); err != nil {
		return err
	}
	out, err := yaml.JSONToYAML(document.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}
