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

// encodeUpstream encodes an object with the serializers of apimachinery.
func encodeUpstream(t *testing.T, mediaType string, obj runtime.Object) []byte {
	t.Helper()
	codecs := serializer.NewCodecFactory(kinds.Scheme())
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
	for _, m := range newMediaTypes(kinds.Scheme()) {
		for _, pod := range samplePods() {
			before := pod.DeepCopyObject()
			got, err := Format{MediaType: &m}.encodeDocument(header, pod)
			if err != nil {
				t.Fatal(err)
			}
			want := pod.DeepCopyObject()
			want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			if diff := cmp.Diff(string(encodeUpstream(t, m.Type, want)), string(got)); diff != "" {
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
	for _, m := range newMediaTypes(kinds.Scheme()) {
		for _, pods := range [][]runtime.Object{{}, samplePods()} {
			want := &corev1.PodList{ListMeta: meta, Items: []corev1.Pod{}}
			for _, pod := range pods {
				item := *pod.(*corev1.Pod)
				item.TypeMeta = metav1.TypeMeta{}
				want.Items = append(want.Items, item)
			}
			var got bytes.Buffer
			if err := m.list(&got, List{Header: header, Meta: meta, Items: bodiesOf(&m, pods)}); err != nil {
				t.Fatal(err)
			}
			whole := got.Bytes()
			if m.rewrite != nil {
				var err error
				if whole, err = m.rewrite(whole); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(encodeUpstream(t, m.Type, want)), string(whole)); diff != "" {
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
	codecs := serializer.NewCodecFactory(kinds.Scheme())
	for _, m := range newMediaTypes(kinds.Scheme()) {
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
