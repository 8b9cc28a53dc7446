package openapi

import (
	"fmt"

	"github.com/google/gnostic-models/compiler"
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	yaml "go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
)

// v3Protobuf encodes a document of version 3 in protobuf.
func v3Protobuf(document pieces) ([]byte, error) {
	message, err := parseMessage(document.join(), openapi_v3.NewDocument)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(message)
}

// v2Protobuf encodes a document of version 2 in protobuf. It concatenates the messages of the
// excerpts, which merges their lists.
func v2Protobuf(header members, excerpts []*excerpt) ([]byte, error) {
	message, err := parseV2(header, sections{})
	if err != nil {
		return nil, err
	}
	encoded, err := proto.Marshal(message)
	if err != nil {
		return nil, err
	}
	parts := pieces{encoded}
	for _, e := range excerpts {
		if encoded, err = e.protobuf(); err != nil {
			return nil, err
		}
		parts = append(parts, encoded)
	}
	return parts.join(), nil
}

// excerptProtobuf encodes an excerpt without the header.
func excerptProtobuf(s sections) ([]byte, error) {
	message, err := parseV2(v2Header(""), sections{definitions: s.definitions, parameters: s.parameters})
	if err != nil {
		return nil, err
	}
	paths, err := newV2PathReader().read(s.paths.object().join())
	if err != nil {
		return nil, err
	}
	return proto.Marshal(&openapi_v2.Document{
		Paths: paths, Definitions: message.Definitions, Parameters: message.Parameters,
	})
}

func parseV2(header members, s sections) (*openapi_v2.Document, error) {
	return parseMessage(v2Text(header, s).join(), openapi_v2.NewDocument)
}

// parseMessage converts JSON to a message of gnostic.
func parseMessage[T any](text []byte, parse func(*yaml.Node, *compiler.Context) (T, error)) (message T, err error) {
	root, err := parseNode(text)
	if err == nil {
		message, err = parse(root, compiler.NewContextWithExtensions("$root", root, nil, nil))
	}
	if err != nil {
		return message, fmt.Errorf("encode OpenAPI in protobuf: %w", err)
	}
	return message, nil
}
