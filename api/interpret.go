package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// jsonDecoder returns what decodes JSON into the types of a scheme.
func jsonDecoder(scheme *runtime.Scheme, strict bool) runtime.Serializer {
	return jsonserializer.NewSerializerWithOptions(typeFinder{}, scheme, scheme, jsonserializer.SerializerOptions{Strict: strict})
}

// typeFinder finds apiVersion and kind of a body, as the default of the library
// does, without taking the whole body for a Go value first.
type typeFinder struct{}

// Interpret implements json.MetaFactory.
func (typeFinder) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	apiVersion, kind, ok := findType(data)
	if !ok {
		return jsonserializer.DefaultMetaFactory.Interpret(data)
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	return &schema.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: kind}, nil
}

// findType reads the members of the outermost object. ok is false for unusual
// input: no object, names in another case, escapes, invalid UTF-8, values that
// are not strings.
func findType(data []byte) (apiVersion, kind string, ok bool) {
	if !json.Valid(data) {
		return "", "", false
	}
	rest := bytes.TrimLeft(data, jsonSpace)
	if len(rest) == 0 || rest[0] != '{' {
		return "", "", false
	}
	for rest = rest[1:]; ; {
		rest = bytes.TrimLeft(rest, jsonSpace+",")
		if rest[0] == '}' {
			return apiVersion, kind, true
		}
		var name, value []byte
		name, rest = jsonValue(rest)
		rest = bytes.TrimLeft(rest, jsonSpace+":")
		value, rest = jsonValue(rest)
		into := &apiVersion
		switch {
		case string(name) == `"apiVersion"`:
		case string(name) == `"kind"`:
			into = &kind
		case mayMean(name, `"apiVersion"`), mayMean(name, `"kind"`):
			return "", "", false
		default:
			continue
		}
		if value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 || !utf8.Valid(value) {
			return "", "", false
		}
		*into = string(value[1 : len(value)-1])
	}
}

const jsonSpace = " \t\r\n"

// mayMean tells whether encoding/json might take a name for another one.
func mayMean(name []byte, other string) bool {
	return bytes.IndexByte(name, '\\') >= 0 || strings.EqualFold(string(name), other)
}

// jsonValue splits off the value at the beginning of valid JSON.
func jsonValue(data []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i += stringEnd(data[i:])
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // of what is around the value
				return data[:i], data[i:]
			}
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return data[:i], data[i:]
			}
			continue
		default:
			continue // a part of a literal
		}
		if depth == 0 {
			return data[:i+1], data[i+1:]
		}
	}
	return data, nil
}

// stringEnd returns the index of the quote that ends a string.
func stringEnd(data []byte) int {
	for i := 1; ; i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
}
