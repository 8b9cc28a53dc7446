package encoding

import (
	"bytes"
	"io"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/miniapi/miniapi/kinds"
)

func samplePods() []runtime.Object {
	grace := int64(30)
	return []runtime.Object{
		&corev1.Pod{},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7", Labels: map[string]string{"b": "<c>&", "a": "1"}},
			Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c"}}},
		},
		// The type header of an object is ignored.
		&corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Wrong", APIVersion: "v0"}, ObjectMeta: metav1.ObjectMeta{Name: "b"}},
	}
}

func upstreamCodecs() serializer.CodecFactory {
	return serializer.NewCodecFactory(kinds.Scheme(), serializer.WithSerializer(cbor.NewSerializerInfo))
}

// decoded returns a document in a form that does not depend on the order of maps, which is random
// in CBOR.
func decoded(t *testing.T, m *MediaType, document []byte) any {
	t.Helper()
	if m.Type != runtime.ContentTypeCBOR {
		return string(document)
	}
	var value any
	if err := direct.Unmarshal(document, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// encodeUpstream encodes an object with the serializers of apimachinery.
func encodeUpstream(t *testing.T, mediaType string, obj runtime.Object) []byte {
	t.Helper()
	codecs := upstreamCodecs()
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("no serializer for %s", mediaType)
	}
	out, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, schema.GroupVersion{Version: "v1"}), obj)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEncodeDocumentEqualsUpstream(t *testing.T) {
	header := metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	for _, m := range newMediaTypes(Config{Scheme: kinds.Scheme(), CBOR: true}) {
		for _, pod := range samplePods() {
			before := pod.DeepCopyObject()
			got, err := Format{MediaType: &m}.encodeDocument(header, pod)
			if err != nil {
				t.Fatal(err)
			}
			want := pod.DeepCopyObject()
			want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			if diff := cmp.Diff(decoded(t, &m, encodeUpstream(t, m.Type, want)), decoded(t, &m, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", m.Type, diff)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("%s changed the object:\n%s", m.Type, diff)
			}
		}
	}
}

func TestListEqualsUpstream(t *testing.T) {
	remaining := int64(3)
	meta := metav1.ListMeta{ResourceVersion: "9", Continue: "x", RemainingItemCount: &remaining}
	header := metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}
	for _, m := range newMediaTypes(Config{Scheme: kinds.Scheme(), CBOR: true}) {
		for _, pods := range [][]runtime.Object{{}, samplePods()} {
			want := &corev1.PodList{ListMeta: meta, Items: []corev1.Pod{}}
			for _, pod := range pods {
				item := *pod.(*corev1.Pod)
				item.TypeMeta = metav1.TypeMeta{}
				want.Items = append(want.Items, item)
			}
			var got bytes.Buffer
			if err := m.list(&got, List{Header: header, Meta: meta, Len: len(pods), Items: bodiesOf(&m, pods)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, &m, encodeUpstream(t, m.Type, want)), decoded(t, &m, got.Bytes())); diff != "" {
				t.Errorf("%s, %d pods (-want +got):\n%s", m.Type, len(pods), diff)
			}
		}
	}
}

func bodiesOf(m *MediaType, objects []runtime.Object) iter.Seq2[Body, error] {
	return func(yield func(Body, error) bool) {
		for _, obj := range objects {
			if bytes, err := m.encode(obj); !yield(Body{bytes: bytes}, err) {
				return
			}
		}
	}
}

func TestUpstreamReadsFrames(t *testing.T) {
	codecs := upstreamCodecs()
	for _, m := range newMediaTypes(Config{Scheme: kinds.Scheme(), CBOR: true}) {
		if m.Stream == "" {
			continue
		}
		info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), m.Type)
		var wire bytes.Buffer
		encoder := Format{MediaType: &m}.FrameEncoder()
		for _, pod := range samplePods() {
			body, err := Format{MediaType: &m}.Encode(pod)
			if err != nil {
				t.Fatal(err)
			}
			frame := encoder.Frame("ADDED", metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, body)
			if err := frame.Write(&wire); err != nil {
				t.Fatal(err)
			}
		}
		frames := info.StreamSerializer.Framer.NewFrameReader(io.NopCloser(&wire))
		for _, pod := range samplePods() {
			if diff := cmp.Diff(pod.(*corev1.Pod).ObjectMeta, readFrame(t, frames, info).ObjectMeta); diff != "" {
				t.Errorf("%s (-want +got):\n%s", m.Type, diff)
			}
		}
	}
}

func readFrame(t *testing.T, frames io.Reader, info runtime.SerializerInfo) *corev1.Pod {
	t.Helper()
	buffer := make([]byte, 1<<16)
	n, err := frames.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	var event metav1.WatchEvent
	if _, _, err := info.StreamSerializer.Serializer.Decode(buffer[:n], nil, &event); err != nil {
		t.Fatal(err)
	}
	if event.Type != "ADDED" {
		t.Errorf("event of type %q", event.Type)
	}
	obj, _, err := info.Serializer.Decode(event.Object.Raw, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*corev1.Pod)
}
