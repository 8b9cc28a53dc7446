package conformance

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/miniapi/miniapi/kinds"
)

// protobufToJSON decodes a response in the protobuf envelope of Kubernetes.
func protobufToJSON(body []byte) ([]byte, error) {
	obj, err := runtime.Decode(serializer.NewCodecFactory(kinds.Scheme()).UniversalDeserializer(), body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(obj)
}
