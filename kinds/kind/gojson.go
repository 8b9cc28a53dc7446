package kind

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"
)

// GoJSON formats a value of an API type as kube-apiserver's messages do: as JSON with the Go names
// of all fields, because the internal types of kube-apiserver have no JSON names.
func GoJSON(value any) json.RawMessage {
	var b bytes.Buffer
	writeGo(&b, reflect.ValueOf(value))
	return b.Bytes()
}

// GoDiff returns the difference of two values, line by line of GoJSON.
func GoDiff(old, now any) string { return diff.Diff(GoJSON(old), GoJSON(now)) }

func writeGo(b *bytes.Buffer, v reflect.Value) {
	switch {
	case !v.IsValid() || isNil(v):
		b.WriteString("null")
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		writeGo(b, v.Elem())
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
			data = []byte("null") // unreachable for API types
		}
		b.Write(data)
	}
}

// writeGoFields writes the fields of embedded structs without braces.
func writeGoFields(b *bytes.Buffer, v reflect.Value) {
	for i := range v.NumField() {
		var one bytes.Buffer
		f, value := v.Type().Field(i), v.Field(i)
		switch {
		case f.Type == reflect.TypeFor[metav1.TypeMeta](): // internal types have none
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

// isOurs reports whether kube-apiserver has an internal type for a type. The types of apimachinery
// have JSON names inside kube-apiserver too.
func isOurs(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") }
