package encoding

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// fuzzDecode decodes bodies of a content type: the result is an object, or an error of the client.
func fuzzDecode(f *testing.F, contentType string, seeds ...string) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		f.Fatal(err)
	}
	media, err := NewCodec(Config{Scheme: scheme, CBOR: true}).ForContentType(contentType)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	body, err := media.encode(pod)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, validation := range []string{metav1.FieldValidationIgnore, metav1.FieldValidationStrict} {
			obj, _, err := media.DecodeBody(data, DecodeOptions{
				Kind: corev1.SchemeGroupVersion.WithKind("Pod"), Into: &corev1.Pod{}, FieldValidation: validation,
			})
			switch {
			case err != nil && !apierrors.IsBadRequest(err) && !apierrors.IsRequestEntityTooLargeError(err):
				t.Errorf("%s: %v is neither 400 nor 413", validation, err)
			case err == nil && obj == nil:
				t.Errorf("%s: no object and no error", validation)
			}
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	fuzzDecode(f, "application/json", `{"metadata":{"name":"a","name":"b"},"spec":{"containers":[{"unknown":1}]}}`,
		`{"kind":"Pod","apiVersion":"v2"}`, `{"kind":"\x9a"}`, `[]`, `null`, `{"metadata":{"creationTimestamp":"x"}}`)
}

func FuzzDecodeYAML(f *testing.F) {
	fuzzDecode(f, "application/yaml", "metadata: {name: a}\nspec:\n  containers: [{name: c}]\n",
		"a: &a {b: 1}\nc: *a\n<<: *a\n", "kind: Pod\nkind: Pod\n", "? [a]\n: b\n", "\t", "%YAML 1.1\n---\n!!binary a")
}

func FuzzDecodeProtobuf(f *testing.F) {
	fuzzDecode(f, "application/vnd.kubernetes.protobuf", "k8s\x00", "k8s\x00\n\x09\n\x02v1\x12\x03Pod\x12\x02\n\x00", "k8s\x00\x12\xff\xff\xff\xff\x0f")
}

func FuzzDecodeCBOR(f *testing.F) {
	fuzzDecode(f, "application/cbor", "\xd9\xd9\xf7\xa1\x48metadata\xa1\x44name\x41a", "\xa1\x44kind\x01", "\xbf\xff", "\xa2\x41a\x01\x41a\x02")
}

// A document that CheckDepth accepts can be decoded without deep recursion.
func FuzzJSONDepth(f *testing.F) {
	for _, seed := range []string{`{"a":[{"b":"]"}]}`, `"\"["`, `[[[`, `]]`, `"`, `"\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := CheckDepth(data); err != nil && len(data) <= maxDepth {
			t.Errorf("a document of %d bytes cannot be nested too deep: %v", len(data), err)
		}
	})
}

// A message that is shorter than the limit of the depth cannot exceed it.
func FuzzProtobufDepth(f *testing.F) {
	for _, seed := range []string{"\n\x02\n\x00", "\x08\x96\x01", "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x0b\x0c", "\x0d\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if exceedsMessageDepth(data) && len(data) < maxDepth {
			t.Errorf("a message of %d bytes cannot be nested too deep", len(data))
		}
	})
}
