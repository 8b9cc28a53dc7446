package api

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDecodeConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		data   string
		want   map[string]any
		unique bool
	}{
		"JSON":                      {`{"a":1}`, map[string]any{"a": int64(1)}, true},
		"JSON with duplicate keys":  {`{"a":1,"a":2}`, map[string]any{"a": int64(2)}, false},
		"YAML":                      {"a: b", map[string]any{"a": "b"}, false},
		"YAML that looks like JSON": {"{a: b}", map[string]any{"a": "b"}, false},
		"empty input":               {"", map[string]any{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			config, unique, err := decodeConfiguration([]byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, config.Object); diff != "" || unique != c.unique {
				t.Errorf("unique %v (-want +got):\n%s", unique, diff)
			}
		})
	}
}

// kube-apiserver decodes a body that begins like a JSON object only when it applies it.
func TestMalformedConfigurations(t *testing.T) {
	for data, want := range map[string]string{
		"a: [": "error encoding patch: yaml: line 1: did not find expected node content",
		"{":    "error decoding patch: error converting YAML to JSON: yaml: line 1: did not find expected node content",
		"[]":   "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
	} {
		err := checkYAML([]byte(data))
		if err == nil {
			_, _, err = decodeConfiguration([]byte(data))
		}
		if !apierrors.IsBadRequest(err) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", data, err, want)
		}
	}
}

func TestApplyRejectsDuplicateKeys(t *testing.T) {
	p := &patch{call: podCall(t), data: []byte("a: 1\na: 2\n"), options: writeOptions{fieldValidation: metav1.FieldValidationStrict}}
	const want = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"
	if err := p.checkDuplicateKeys(); !apierrors.IsBadRequest(err) || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// A catalog without a type converter has no field managers.
func TestApplyNeedsFieldManagers(t *testing.T) {
	s := newTestServer(t, nil)
	s.must(http.StatusUnsupportedMediaType, s.do("PATCH", "/api/v1/namespaces/default/configmaps/a?fieldManager=m",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, "Content-Type: application/apply-patch+yaml"))
}
