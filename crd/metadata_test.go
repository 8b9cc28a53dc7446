package crd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// Metadata is canonical if a conversion to ObjectMeta and back does not change it.
func TestCanonicalMetadata(t *testing.T) {
	for text, canonical := range map[string]bool{
		`{}`:           true,
		`{"name":"a"}`: true,
		`{"name":"a","generateName":"b","namespace":"c","uid":"d","resourceVersion":"5","generation":6}`:                                                                                      true,
		`{"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:04:05Z"}`:                                                                                             true,
		`{"labels":{"a":"b","c":""},"annotations":{"a":"b"},"finalizers":["a",""]}`:                                                                                                           true,
		`{"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"","uid":"b","controller":false,"blockOwnerDeletion":true}]}`:                                                               true,
		`{"managedFields":[{"manager":"a","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{"f:b":{}}},"subresource":"s"},{}]}`: true,

		`{"name":""}`:                false,
		`{"name":null}`:              false,
		`{"name":1}`:                 false,
		`{"other":"a"}`:              false,
		`{"Name":"a"}`:               false,
		`{"generation":0}`:           false,
		`{"generation":1.5}`:         false,
		`{"labels":{}}`:              false,
		`{"labels":{"a":1}}`:         false,
		`{"labels":{"a":null}}`:      false,
		`{"finalizers":[]}`:          false,
		`{"finalizers":[null]}`:      false,
		`{"creationTimestamp":null}`: false,
		`{"creationTimestamp":"2026-01-02T03:04:05.5Z"}`:          false,
		`{"creationTimestamp":"2026-01-02T03:04:05+01:00"}`:       false,
		`{"creationTimestamp":"0001-01-01T00:00:00Z"}`:            false,
		`{"ownerReferences":[{"name":"a","uid":"b"}]}`:            false,
		`{"ownerReferences":[null]}`:                              false,
		`{"managedFields":[{"manager":"a","fieldsV1":null}]}`:     false,
		`{"managedFields":[{"manager":"a","fieldsV1":{},"x":1}]}`: false,
		`{"managedFields":[null]}`:                                false,
		`{"deletionGracePeriodSeconds":0}`:                        false, // rare, so it is not among the known fields
	} {
		var metadata map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &metadata); err != nil {
			t.Fatal(err)
		}
		if got := isCanonical(metadata); got != canonical {
			t.Errorf("%s: canonical is %v", text, got)
		}
		if !canonical {
			continue
		}
		object := map[string]any{"metadata": runtime.DeepCopyJSON(metadata)}
		typed, _, err := objectmeta.GetObjectMeta(object, false)
		if err == nil {
			err = objectmeta.SetObjectMeta(object, typed)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"metadata": metadata}, object); diff != "" {
			t.Errorf("%s is changed by the conversion (-want +got):\n%s", text, diff)
		}
	}
}
