package kind

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/diff"
)

// GoJSON shows a value of one of the API's types as kube-apiserver's messages
// do: as JSON with the names of Go fields, all of them, for that is what comes
// of encoding types which have no names for JSON.
func GoJSON(value any) json.RawMessage {
	var b bytes.Buffer
	writeGo(&b, reflect.ValueOf(value))
	return b.Bytes()
}

// GoDiff tells two values apart, line by line of GoJSON.
func GoDiff(old, now any) string { return diff.Diff(GoJSON(old), GoJSON(now)) }

func writeGo(b *bytes.Buffer, v reflect.Value) {
	switch {
	case !v.IsValid() || isNil(v):
		b.WriteString("null")
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		writeGo(b, v.Elem())
	case v.Type() == reflect.TypeFor[corev1.PodSpec]():
		writeGo(b, reflect.ValueOf(internalPodSpec(v.Interface().(corev1.PodSpec))))
	case v.Kind() == reflect.Struct && isOurs(v.Type()):
		b.WriteByte('{')
		writeGoFields(b, v)
		b.WriteByte('}')
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		b.WriteByte('[')
		for i := range v.Len() {
			separate(b)
			writeGo(b, v.Index(i))
		}
		b.WriteByte(']')
	default:
		data, err := json.Marshal(v.Interface())
		if err != nil {
			data = []byte("null") // no type of the API's comes here
		}
		b.Write(data)
	}
}

// writeGoFields writes embedded structs without braces of their own.
func writeGoFields(b *bytes.Buffer, v reflect.Value) {
	for _, f := range fieldsInside(v.Type()) {
		var one bytes.Buffer
		value := v.FieldByIndex(f.Index)
		switch {
		case newFields[v.Type().Name()+"."+f.Name] && isNil(value):
		case !f.Anonymous:
			one.WriteString(`"` + f.Name + `":`)
			writeGo(&one, value)
		case isOurs(f.Type):
			writeGoFields(&one, value)
		default:
			writeGo(&one, value)
			one = *bytes.NewBuffer(one.Bytes()[1 : one.Len()-1])
		}
		if one.Len() > 0 {
			separate(b)
			b.Write(one.Bytes())
		}
	}
}

func separate(b *bytes.Buffer) {
	if n := b.Len(); n > 0 && b.Bytes()[n-1] != '{' && b.Bytes()[n-1] != '[' {
		b.WriteByte(',')
	}
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}

// isOurs: what apimachinery defines has names for JSON inside kube-apiserver
// too.
func isOurs(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") || t == reflect.TypeFor[podSpec]() || t == reflect.TypeFor[podSecurity]()
}
