package apiextensions

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestDefinitionsAtRestMatchKubeAPIServer decodes and encodes a value that kube-apiserver wrote.
func TestDefinitionsAtRestMatchKubeAPIServer(t *testing.T) {
	want, err := os.ReadFile("testdata/at-rest.json")
	if err != nil {
		t.Fatal(err)
	}
	obj, err := codec{}.Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	definition := obj.(*apiextensionsv1.CustomResourceDefinition)
	if version := definition.Spec.Versions[0]; version.Schema == nil {
		t.Error("the schema, which v1beta1 keeps at the top, did not come into its version")
	}
	before := definition.DeepCopy()
	got, err := codec{}.Encode(definition)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("at rest (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, definition); diff != "" {
		t.Errorf("Encode changed its argument:\n%s", diff)
	}
}

func TestDefinitionsAtRestInV1AreRead(t *testing.T) {
	old, err := os.ReadFile("testdata/at-rest.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := codec{}.Decode(old)
	if err != nil {
		t.Fatal(err)
	}
	withKind := want.(*apiextensionsv1.CustomResourceDefinition).DeepCopy()
	withKind.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	data, err := json.Marshal(withKind)
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec{}.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("v1 (-want +got):\n%s", diff)
	}
}

func TestMalformedValuesAreRejected(t *testing.T) {
	for name, value := range map[string]string{
		"invalid JSON": `{"kind":`,
		"another kind": `{"kind":"Other","apiVersion":"apiextensions.k8s.io/v1beta1"}`,
		"no kind":      `{}`,
	} {
		if obj, err := (codec{}).Decode([]byte(value)); err == nil {
			t.Errorf("%s: decoded as %v", name, obj)
		}
	}
}
