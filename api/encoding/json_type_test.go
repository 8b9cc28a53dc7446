package encoding

import (
	"reflect"
	"testing"

	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

var jsonBodies = []string{
	`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"kind":"no"}}`,
	` { "apiVersion" : "apps/v1" , "spec" : [ { "a" : "}" } , "]" , -1.5e3 , true , null ] , "kind" : "Deployment" } `,
	`{"metadata":{"annotations":{"a\"b":"\\"}},"kind":"A","kind":"B"}`,
	`{"Kind":"ConfigMap","APIVERSION":"v1"}`, `{"\u006bind":"ConfigMap"}`, `{"kind":"\u0041"}`, `{"kind":"` + "\xff" + `"}`,
	`{"kind":"` + "\x9a\x9a" + `"}`, // each byte of invalid UTF-8 becomes a replacement character
	`{"kind":1}`, `{"kind":null,"apiVersion":"v1"}`, `{"kind":{"a":"b"}}`, `{"apiVersion":"a/b/c","kind":"A"}`,
	`{}`, `[]`, `null`, `"kind"`, `1`, ``, ` `, `{`, `{"kind":"A"`, `{"kind":"A"}}`, `{"kind":"A",}`, `{"kind" "A"}`,
	"{\"\u212Aind\":\"A\"}", `{"kind":"A","a":"b` + "\n" + `"}`,
}

// checkType compares typeDetector with jsonserializer.DefaultMetaFactory.
func checkType(t *testing.T, body []byte) {
	t.Helper()
	want, wantErr := jsonserializer.DefaultMetaFactory.Interpret(body)
	got, err := typeDetector{}.Interpret(body)
	if !reflect.DeepEqual(want, got) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("%q is %v (%v), want %v (%v)", body, got, err, want, wantErr)
	}
}

func TestTypeDetector(t *testing.T) {
	for _, body := range jsonBodies {
		checkType(t, []byte(body))
	}
	if _, _, ok := detectType([]byte(jsonBodies[1])); !ok {
		t.Error("the type of a usual body is not detected")
	}
}

func FuzzTypeDetector(f *testing.F) {
	for _, body := range jsonBodies {
		f.Add([]byte(body))
	}
	f.Fuzz(checkType)
}
