package api

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

func TestCheckDepth(t *testing.T) {
	object := func(depth int) string { return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) }
	for _, c := range []struct {
		name, body string
		refused    bool
	}{
		{"empty", "", false},
		{"the deepest object", object(maxDepth), false},
		{"one level more", object(maxDepth + 1), true},
		{"a list", "[" + object(maxDepth) + "]", true},
		{"lists count too", `{"a":` + strings.Repeat("[", maxDepth), true},
		{"space before the object", "\n " + object(maxDepth+1), true},
		{"many objects beside each other", `{"a":[` + strings.Repeat("{},", 2*maxDepth) + `{}]}`, false},
		{"brackets in a string", `{"a":"` + strings.Repeat("{", 2*maxDepth) + `"}`, false},
		{"an escaped quote", `{"a":"\"` + strings.Repeat("{", 2*maxDepth) + `"}`, false},
		{"an escaped backslash ends no string early", `{"a":"\\","b":` + object(maxDepth) + `}`, true},
		{"a string without an end", `{"a":"` + strings.Repeat("{", 2*maxDepth), false},
		{"YAML", "a: |\n  " + strings.Repeat("{", 2*maxDepth), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checkDepth([]byte(c.body))
			if refused := apierrors.IsBadRequest(err); refused != c.refused || refused != (err != nil) {
				t.Errorf("error is %v, want refused %v", err, c.refused)
			}
		})
	}
}

func TestDeepBodiesAreRefused(t *testing.T) {
	s := newStack(t, nil)
	s.configMap("a", "x")
	const configMaps = "/api/v1/namespaces/default/configmaps"
	deep := strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1)
	for _, c := range []struct{ method, path, contentType, body string }{
		{"POST", configMaps, "application/json", deep},
		{"PUT", configMaps + "/a", "application/json", deep},
		{"PATCH", configMaps + "/a", string(types.MergePatchType), deep},
		{"PATCH", configMaps + "/a", string(types.StrategicMergePatchType), deep},
		{"PATCH", configMaps + "/a", string(types.JSONPatchType), `[{"op":"add","path":"/data","value":` + deep + `}]`},
	} {
		got := s.must(http.StatusBadRequest, s.do(c.method, c.path, c.body, "Content-Type: "+c.contentType))
		if !strings.Contains(got.body, `"message":"the body is nested more than 1000 levels deep"`) {
			t.Errorf("%s as %s: %s", c.method, c.contentType, got.body)
		}
	}
}
