package kind_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func configMaps() kind.Codec {
	return kind.Codec{
		Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		New:  func() runtime.Object { return &corev1.ConfigMap{} },
	}
}

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Data: map[string]string{"a": "1", "b": "<2>", "c": "3"}}
}

func TestCodecReadsBothEncodings(t *testing.T) {
	for _, inJSON := range []bool{false, true} {
		writer, reader := configMaps(), configMaps()
		writer.JSON, reader.JSON = inJSON, !inJSON
		data, err := writer.Encode(configMap())
		if err != nil {
			t.Fatal(err)
		}
		got, err := reader.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(runtime.Object(configMap()), got); diff != "" {
			t.Errorf("JSON %v (-want +got):\n%s", inJSON, diff)
		}
	}
}

func TestCodecIsDeterministic(t *testing.T) {
	codec := configMaps()
	first, err := codec.Encode(configMap())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := codec.Encode(configMap())
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(first) {
			t.Fatalf("%q and %q", first, again)
		}
	}
}

func TestJSONAtRestMatchesKubeAPIServer(t *testing.T) {
	codec := configMaps()
	codec.JSON = true
	data, err := codec.Encode(configMap())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"},"data":{"a":"1","b":"\u003c2\u003e","c":"3"}}` + "\n"
	if string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
}

func TestCodecConvertsOldVersions(t *testing.T) {
	codec := configMaps()
	codec.Kind.Version = "v2"
	codec.More = []registry.Version{{
		Name: "v1",
		New:  func() runtime.Object { return &corev1.ConfigMap{} },
		ToHub: func(obj runtime.Object) (runtime.Object, error) {
			m := obj.(*corev1.ConfigMap).DeepCopy()
			m.Data["converted"] = "yes"
			return m, nil
		},
	}}
	old := configMaps()
	data, err := old.Encode(configMap())
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if got.(*corev1.ConfigMap).Data["converted"] != "yes" {
		t.Errorf("got %v", got)
	}
}

func TestCodecRejectsMalformedValues(t *testing.T) {
	codec := configMaps()
	other := kind.Codec{Kind: policyv1.SchemeGroupVersion.WithKind("Eviction")}
	eviction, err := other.Encode(&policyv1.Eviction{})
	if err != nil {
		t.Fatal(err)
	}
	scale, err := json.Marshal(&autoscalingv1.Scale{})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing":            nil,
		"no envelope":        []byte("junk"),
		"an empty envelope":  []byte("k8s\x00"),
		"a broken envelope":  []byte("k8s\x00junkjunk"),
		"another kind":       eviction,
		"no kind":            scale,
		"another type":       []byte(`{"apiVersion":"v1","kind":"ConfigMap","data":[1]}`),
		"a truncated object": []byte(`{"apiVersion":"v1","kind":"ConfigMap"`),
	} {
		if obj, err := codec.Decode(data); err == nil {
			t.Errorf("%s: decoded %v", name, obj)
		} else if !strings.HasPrefix(err.Error(), "decode /v1, Kind=ConfigMap: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := codec.Encode(&unstructured.Unstructured{}); err == nil {
		t.Errorf("an object without protobuf was encoded as %q", data)
	}
}

func FuzzCodec(f *testing.F) {
	codec := configMaps()
	data, err := codec.Encode(configMap())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, err := codec.Decode(data)
		if err != nil {
			return
		}
		again, err := codec.Encode(obj)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := codec.Decode(again); err != nil {
			t.Errorf("what was encoded of %q cannot be decoded: %v", data, err)
		}
	})
}

func TestOnlyForeignStoredValuesAreDefaulted(t *testing.T) {
	codec := configMaps()
	codec.Default = func(obj runtime.Object) { kind.SetDefaultPointer(&obj.(*corev1.ConfigMap).Immutable, true) }
	usual, err := codec.Encode(configMap())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		data      []byte
		defaulted bool
	}{
		"as Encode makes it": {usual, false},
		"in JSON":            {[]byte(`{"apiVersion":"v1","kind":"ConfigMap"}`), true},
	} {
		obj, err := codec.Decode(tc.data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := obj.(*corev1.ConfigMap).Immutable != nil; got != tc.defaulted {
			t.Errorf("%s: defaulted %v", name, got)
		}
	}
}
