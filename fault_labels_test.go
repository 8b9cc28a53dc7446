package miniapi

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

func TestBodyLabelsOfCBOR(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{NodeName: "n"}}
	data, err := cbor.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, contentType := range []string{"application/cbor", "application/apply-patch+cbor"} {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/default/pods", bytes.NewReader(data))
		r.Header.Set("Content-Type", contentType)
		if got := bodyLabels(r); got["app"] != "web" {
			t.Errorf("%s: labels %v", contentType, got)
		}
		if rest, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(rest, data) {
			t.Errorf("%s: the body cannot be read again: %v", contentType, err)
		}
	}
}
