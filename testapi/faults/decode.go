package faults

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Decode returns the faults in a file of YAML or JSON documents. A document is a list of faults in
// the form of [Fault], or a manifest of kind Fault or List. Unknown fields are errors.
func Decode(data []byte) ([]Fault, error) {
	var list []Fault
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		faults, err := decodeDocument(document)
		if err != nil {
			return nil, err
		}
		list = append(list, faults...)
	}
}

// manifest is an object of kind Fault. Only the name of the metadata counts.
type manifest struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            Spec              `json:"spec"`
	Status          Counts            `json:"status"`
}

// manifests is a List, or a FaultList.
type manifests struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ListMeta `json:"metadata"`
	Items           []manifest      `json:"items"`
}

func decodeDocument(document []byte) ([]Fault, error) {
	var content any
	if err := yaml.Unmarshal(document, &content); err != nil {
		return nil, err
	}
	object, ok := content.(map[string]any)
	switch {
	case content == nil:
		return nil, nil
	case !ok:
		var list []Fault
		return list, yaml.UnmarshalStrict(document, &list)
	}
	var found manifests
	var err error
	switch object["kind"] {
	case "List", faultKind.Kind + "List":
		err = yaml.UnmarshalStrict(document, &found)
	case faultKind.Kind:
		found.Items = make([]manifest, 1)
		err = yaml.UnmarshalStrict(document, &found.Items[0])
	default:
		return nil, fmt.Errorf("the document must be a list of faults or of kind %s", faultKind.Kind)
	}
	if err != nil {
		return nil, err
	}
	list := make([]Fault, len(found.Items))
	for i, m := range found.Items {
		if m.GroupVersionKind() != faultKind {
			return nil, fmt.Errorf("%s %s: the kind must be %s in %s", m.Kind, m.APIVersion, faultKind.Kind, faultKind.GroupVersion())
		}
		list[i] = Fault{Name: m.Metadata.Name, Match: m.Spec.Match, Effect: m.Spec.Effect}
	}
	return list, nil
}
