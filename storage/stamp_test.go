package storage_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// bare is a codec that stores the protobuf message without an envelope.
type bare struct{}

func (bare) Encode(obj runtime.Object) ([]byte, error) { return obj.(*corev1.ConfigMap).Marshal() }

func (bare) Decode(data []byte) (runtime.Object, error) {
	obj := &corev1.ConfigMap{}
	return obj, obj.Unmarshal(data)
}

func (bare) Message(data []byte) ([]byte, bool) { return data, true }

func stamped(t testing.TB, data []byte, revision int64) (got []byte, entry *storage.Entry) {
	t.Helper()
	entry = storage.NewDecoder(bare{}, versioner.APIObjectVersioner{}).Entry("/configmaps/a", revision, data)
	s, ok := entry.Stamped()
	if !ok {
		return nil, entry
	}
	got = append(s.AppendStart(nil), s.Rest()...)
	if len(got) != s.Size() {
		t.Errorf("%d bytes, but Size is %d", len(got), s.Size())
	}
	return got, entry
}

// decodedAndEncoded decodes the object of an entry and encodes it second.
func decodedAndEncoded(t testing.TB, entry *storage.Entry) []byte {
	t.Helper()
	obj, err := entry.Object()
	if err != nil {
		t.Fatal(err)
	}
	want, err := obj.(*corev1.ConfigMap).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func TestStampedEqualsDecodingAndEncoding(t *testing.T) {
	grace := int64(30)
	now := metav1.Unix(1_700_000_000, 0)
	for name, meta := range map[string]metav1.ObjectMeta{
		"empty":      {},
		"name":       {Name: "a"},
		"all fields": {Name: "a", GenerateName: "b", Namespace: "c", UID: "d", Generation: 3, DeletionTimestamp: &now, DeletionGracePeriodSeconds: &grace, Labels: map[string]string{"a": "1", "b": "2"}, Finalizers: []string{"x"}},
		"long":       {Name: "a", Annotations: map[string]string{"a": string(bytes.Repeat([]byte("x"), 1000))}},
		// The stamp makes the length one byte longer.
		"edge": {Name: "a", Annotations: map[string]string{"a": string(bytes.Repeat([]byte("x"), 95))}},
	} {
		for _, revision := range []int64{1, 9, 10, 12345, 1<<62 + 1} {
			data, err := bare{}.Encode(&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "v"}})
			if err != nil {
				t.Fatal(err)
			}
			got, entry := stamped(t, data, revision)
			if want := decodedAndEncoded(t, entry); !bytes.Equal(want, got) {
				t.Errorf("%s at %d: got %q, want %q", name, revision, got, want)
			}
		}
	}
}

func TestUnusualMessagesAreNotStamped(t *testing.T) {
	text := func(field protowire.Number, value string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), value)
	}
	metadata := func(fields ...[]byte) []byte { return text(1, string(bytes.Join(fields, nil))) }
	for name, data := range map[string][]byte{
		"empty":                 {},
		"no metadata":           text(2, "x"),
		"cut off":               metadata(text(1, "a"))[:2],
		"a resourceVersion":     metadata(text(1, "a"), text(6, "7")),
		"two resourceVersions":  metadata(text(6, ""), text(6, "")),
		"fields out of order":   metadata(text(3, "a"), text(1, "b")),
		"a late version":        metadata(text(11, ""), text(6, "")),
		"metadata in two parts": append(metadata(text(1, "a")), metadata(text(3, "b"))...),
		"broken metadata":       metadata([]byte{0xff}),
	} {
		if got, _ := stamped(t, data, 7); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got, _ := stamped(t, metadata(text(1, "a")), 0); got != nil {
		t.Errorf("without a revision: %q", got)
	}
}

// FuzzStamped checks that a stamped message and the decoded object are equal for any stored bytes.
func FuzzStamped(f *testing.F) {
	data, err := bare{}.Encode(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Generation: 2}, Data: map[string]string{"k": "v"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, int64(7))
	f.Fuzz(func(t *testing.T, data []byte, revision int64) {
		got, entry := stamped(t, data, revision)
		obj, err := entry.Object()
		if got == nil || err != nil {
			return
		}
		var second corev1.ConfigMap
		if err := second.Unmarshal(got); err != nil {
			t.Fatal(err)
		}
		want, err := obj.(*corev1.ConfigMap).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if canonical, err := second.Marshal(); err != nil || !bytes.Equal(want, canonical) {
			t.Errorf("got %q (%v), want %q", canonical, err, want)
		}
	})
}
