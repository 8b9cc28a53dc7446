package api

import (
	"reflect"
	"testing"

	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

var bodies = []string{
	`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"kind":"no"}}`,
	` { "apiVersion" : "apps/v1" , "spec" : [ { "a" : "}" } , "]" , -1.5e3 , true , null ] , "kind" : "Deployment" } `,
	`{"metadata":{"annotations":{"a\"b":"\\"}},"kind":"A","kind":"B"}`,
	`{"Kind":"ConfigMap","APIVERSION":"v1"}`, `{"\u006bind":"ConfigMap"}`, `{"kind":"\u0041"}`, `{"kind":"` + "\xff" + `"}`,
	`{"kind":"` + "\x9a\x9a" + `"}`, // two bytes that are no UTF-8 are two replacement characters
	`{"kind":1}`, `{"kind":null,"apiVersion":"v1"}`, `{"kind":{"a":"b"}}`, `{"apiVersion":"a/b/c","kind":"A"}`,
	`{}`, `[]`, `null`, `"kind"`, `1`, ``, ` `, `{`, `{"kind":"A"`, `{"kind":"A"}}`, `{"kind":"A",}`, `{"kind" "A"}`,
	"{\"\u212Aind\":\"A\"}", `{"kind":"A","a":"b` + "\n" + `"}`,
}

// sameType holds typeFinder against the library's own way.
func sameType(t *testing.T, body []byte) {
	t.Helper()
	want, wantErr := jsonserializer.DefaultMetaFactory.Interpret(body)
	got, err := typeFinder{}.Interpret(body)
	if !reflect.DeepEqual(want, got) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("%q is %v (%v), want %v (%v)", body, got, err, want, wantErr)
	}
}

func TestTypeFinder(t *testing.T) {
	for _, body := range bodies {
		sameType(t, []byte(body))
	}
	if _, _, ok := findType([]byte(bodies[1])); !ok {
		t.Error("nothing unusual, but not found")
	}
}

func FuzzTypeFinder(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(sameType)
}
