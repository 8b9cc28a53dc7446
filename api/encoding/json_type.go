package encoding

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// jsonDecoder returns a decoder of JSON into the types of a scheme.
func jsonDecoder(scheme *runtime.Scheme, strict bool) runtime.Serializer {
	options := jsonserializer.SerializerOptions{Strict: strict}
	return fastDecoder{jsonserializer.NewSerializerWithOptions(typeDetector{}, scheme, scheme, options), new(decodableTypes)}
}

// typeDetector reads apiVersion and kind of a JSON body. It returns the same results
// as jsonserializer.DefaultMetaFactory, which unmarshals the whole body.
type typeDetector struct{}

// Interpret implements json.MetaFactory.
func (typeDetector) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	apiVersion, kind, ok := detectType(data)
	if !ok {
		return jsonserializer.DefaultMetaFactory.Interpret(data)
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	return &schema.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: kind}, nil
}

// detectType reads the members of the outermost object. ok is false for unusual input: anything
// but an object, names in another case, escapes, invalid UTF-8, values that are not strings.
func detectType(data []byte) (apiVersion, kind string, ok bool) {
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
		case mayMatch(name, `"apiVersion"`), mayMatch(name, `"kind"`):
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

// mayMatch reports whether encoding/json might match a name to a field.
func mayMatch(name []byte, field string) bool {
	return bytes.IndexByte(name, '\\') >= 0 || strings.EqualFold(string(name), field)
}

// jsonValue splits off the value at the beginning of valid JSON.
func jsonValue(data []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = endOfString(data, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of the surrounding value
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
