package openapi

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// parseNode returns the tree of nodes that a YAML parser makes of a JSON text, without their
// styles and positions. gnostic reads documents from such trees. A YAML parser takes several times
// as long, because it supports other notations than JSON.
func parseNode(text []byte) (*yaml.Node, error) {
	if !json.Valid(text) {
		return nil, errors.New("the text is not JSON")
	}
	r := nodeReader{text: text}
	return r.value()
}

// nodeReader reads the values of a text.
//
// Invariant: the text is valid JSON.
type nodeReader struct {
	text []byte
	at   int
}

func (r *nodeReader) value() (*yaml.Node, error) {
	switch r.skip(" \t\r\n"); r.text[r.at] {
	case '{':
		return r.collection(yaml.MappingNode, "!!map")
	case '[':
		return r.collection(yaml.SequenceNode, "!!seq")
	case '"':
		value, err := r.string()
		return scalarNode("!!str", value), err
	}
	begin := r.at
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n,]}", r.text[r.at]) < 0 {
		r.at++
	}
	value := string(r.text[begin:r.at])
	return scalarNode(scalarTag(value), value), nil
}

// skip skips all bytes of a set.
func (r *nodeReader) skip(set string) {
	for r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
		r.at++
	}
}

// collection reads an object or array. The content of an object alternates between names and
// values.
func (r *nodeReader) collection(kind yaml.Kind, tag string) (*yaml.Node, error) {
	node := &yaml.Node{Kind: kind, Tag: tag}
	for r.at++; ; {
		r.skip(" \t\r\n,:")
		if c := r.text[r.at]; c == '}' || c == ']' {
			r.at++
			return node, nil
		}
		child, err := r.value()
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, child)
	}
}

func (r *nodeReader) string() (string, error) {
	begin, escaped := r.at, false
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			escaped = true
			r.at++
		}
	}
	r.at++
	quoted := r.text[begin:r.at]
	if !escaped {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var value string
	err := json.Unmarshal(quoted, &value)
	return value, err
}

func scalarNode(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// scalarTag returns the tag of a literal or number.
func scalarTag(value string) string {
	switch value {
	case "true", "false":
		return "!!bool"
	case "null":
		return "!!null"
	}
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return "!!int"
	}
	if _, err := strconv.ParseUint(value, 10, 64); err == nil {
		return "!!int"
	}
	return "!!float"
}
