package bootstrap

import (
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/kind"
)

// pack returns the content of objects.pb.gz.
func pack(t *testing.T, recorded map[string]runtime.Object) []byte {
	t.Helper()
	var list metav1.List
	for _, key := range slices.Sorted(maps.Keys(recorded)) {
		if obj := recorded[key]; isPrepared(obj) {
			list.Items = append(list.Items, runtime.RawExtension{Raw: value(t, obj)})
		}
	}
	data, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// isPrepared reports whether an object is not created by minimalObjects or networkObjects.
func isPrepared(obj runtime.Object) bool {
	switch obj.(type) {
	case *corev1.Namespace, *corev1.Service, *corev1.Endpoints,
		*discoveryv1.EndpointSlice, *networkingv1.ServiceCIDR, *networkingv1.IPAddress:
		return false
	}
	return true
}

// value encodes obj in the protobuf envelope, even if its kind is stored in JSON.
func value(t *testing.T, obj runtime.Object) []byte {
	t.Helper()
	obj = obj.DeepCopyObject()
	accessor, err := meta.Accessor(obj)
	if err != nil {
		t.Fatal(err)
	}
	accessor.SetUID("")
	accessor.SetResourceVersion("")
	accessor.SetCreationTimestamp(metav1.Time{})
	types, _, err := kinds.Scheme().ObjectKinds(obj)
	if err != nil {
		t.Fatal(err)
	}
	data, err := (&kind.Codec{Kind: types[0]}).Encode(obj)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
