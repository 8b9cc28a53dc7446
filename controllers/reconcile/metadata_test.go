package reconcile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

func TestParseMetadata(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	deleted := metav1.NewTime(time.Unix(1700000000, 0))
	objects := map[string]metav1.ObjectMeta{
		"nothing": {Name: "a", UID: "1"},
		"everything": {
			Name: "a", Namespace: "n", UID: "2", ResourceVersion: "", DeletionTimestamp: &deleted, Finalizers: []string{"x", "y"},
			Labels:          map[string]string{"l": "v"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "K", Name: "o", UID: "3", BlockOwnerDeletion: new(true)}, {UID: "4"}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
	}
	for name, m := range objects {
		for format, encoder := range map[string]runtime.Encoder{
			"protobuf": protobuf.NewSerializer(scheme, scheme),
			"CBOR":     cbor.NewSerializer(scheme, scheme),
			"JSON":     json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{}),
		} {
			t.Run(name+" in "+format, func(t *testing.T) {
				obj := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: m, Data: map[string]string{"uid": "5"}}
				data, err := runtime.Encode(encoder, obj)
				if err != nil {
					t.Fatal(err)
				}
				got, err := ParseMetadata(data)
				want := Metadata{UID: m.UID, Deleting: m.DeletionTimestamp != nil, Finalizers: m.Finalizers, OwnerReferences: m.OwnerReferences}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("error %v, difference %s", err, diff)
				}
				for n := range data { // a part of an object is an error or harmless
					_, _ = ParseMetadata(data[:n])
				}
			})
		}
	}
}

func TestParseMalformedMetadata(t *testing.T) {
	for _, data := range []string{"", "{", "k8s\x00\x12", "k8s\x00\x12\x02\x08\x01", "garbage"} {
		if m, err := ParseMetadata([]byte(data)); err == nil {
			t.Errorf("%q: %v, want an error", data, m)
		}
	}
}
