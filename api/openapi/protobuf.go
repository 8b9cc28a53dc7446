package openapi

import (
	"fmt"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

// v3Protobuf is a document of version 3 in protobuf.
func v3Protobuf(document pieces) ([]byte, error) {
	message, err := openapi_v3.ParseDocument(document.join())
	if err != nil {
		return nil, fmt.Errorf("OpenAPI in protobuf: %w", err)
	}
	return proto.Marshal(message)
}

// v2Protobuf is a document of version 2 in protobuf, made of excerpts: messages
// behind one another are one message, and their lists one list.
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

// excerptProtobuf is what v2Protobuf joins.
func excerptProtobuf(s sections) ([]byte, error) {
	message, err := parseV2(v2Header(""), s)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(&openapi_v2.Document{
		Paths: message.Paths, Definitions: message.Definitions, Parameters: message.Parameters,
	})
}

func parseV2(header members, s sections) (*openapi_v2.Document, error) {
	message, err := openapi_v2.ParseDocument(v2Text(header, s).join())
	if err != nil {
		return nil, fmt.Errorf("OpenAPI in protobuf: %w", err)
	}
	return message, nil
}
