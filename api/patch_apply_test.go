package api

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Numbers keep their digits in JSON; YAML goes the way of kube-apiserver.
func TestConfigurationsAreJSONOrYAML(t *testing.T) {
	for rule, c := range map[string]struct {
		data  string
		want  map[string]any
		clean bool
	}{
		"JSON":                      {`{"a":1}`, map[string]any{"a": int64(1)}, true},
		"JSON with a key twice":     {`{"a":1,"a":2}`, map[string]any{"a": int64(2)}, false},
		"YAML":                      {"a: b", map[string]any{"a": "b"}, false},
		"YAML that looks like JSON": {"{a: b}", map[string]any{"a": "b"}, false},
		"nothing":                   {"", map[string]any{}, false},
	} {
		t.Run(rule, func(t *testing.T) {
			config, clean, err := decodeConfiguration([]byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, config.Object); diff != "" || clean != c.clean {
				t.Errorf("clean %v (-want +got):\n%s", clean, diff)
			}
		})
	}
	if _, _, err := decodeConfiguration([]byte("a: b: c")); !apierrors.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
}

func TestDuplicateKeysInAnApply(t *testing.T) {
	p := &patch{call: podCall(t), data: []byte("a: 1\na: 2\n"), options: writeOptions{validation: metav1.FieldValidationStrict}}
	const want = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"
	if err := p.refuseDuplicates(); !apierrors.IsBadRequest(err) || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// A catalog without types has no field managers.
func TestApplyNeedsTypes(t *testing.T) {
	s := newStack(t, nil)
	s.must(http.StatusUnsupportedMediaType, s.do("PATCH", "/api/v1/namespaces/default/configmaps/a?fieldManager=m",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, "Content-Type: application/apply-patch+yaml"))
}
