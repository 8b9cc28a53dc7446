package encoding

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// A type header is added to a map of any size.
func TestCBORHeaderOfMapsOfAnySize(t *testing.T) {
	m := cborMediaType(nil)
	for _, size := range []int{0, 1, 21, 22, 23, 24, 253, 254, 255, 256, 65533, 65534, 65535, 65536} {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v0", "kind": "Wrong"}}
		for i := range size {
			u.Object[fmt.Sprint(i)] = int64(i)
		}
		document, err := Format{MediaType: &m}.encodeDocument(TypeHeader(u.GroupVersionKind().GroupVersion().WithKind("Right")), u)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(document, []byte(cborMagic)) {
			t.Errorf("%d fields: the document begins with %x", size, document[:3])
		}
		var got map[string]any
		if err := direct.Unmarshal(document, &got); err != nil {
			t.Fatalf("%d fields: %v", size, err)
		}
		if len(got) != size+2 || got["kind"] != "Right" || got["apiVersion"] != "v0" {
			t.Errorf("%d fields: %d fields, of kind %v in version %v", size, len(got), got["kind"], got["apiVersion"])
		}
	}
}

func TestExceedsCBORLimits(t *testing.T) {
	for name, level := range map[string]string{
		"arrays": "\x81", "arrays with a length in eight bytes": "\x9b\x00\x00\x00\x00\x00\x00\x00\x01",
		"arrays without a length": "\x9f", "maps": "\xa1\x41a", "maps without a length": "\xbf\x61a",
		"second items": "\x82\x81\xf4", "after bytes": "\x82\x45text\x9f", "after floats": "\x82\xfb12345678",
		"after text without a length": "\x82\x7f\x61a\x61b\xff",
	} {
		nested := func(depth int) []byte { return append(bytes.Repeat([]byte(level), depth), 0) }
		if depth, _ := exceedsCBORLimits(nested(maxDepth - 1)); depth { // an item beside the next level may be a level
			t.Errorf("%s: rejected below the maximum depth", name)
		}
		if depth, _ := exceedsCBORLimits(nested(maxDepth + 1)); !depth {
			t.Errorf("%s: one level more is accepted", name)
		}
	}
	for name, data := range map[string][]byte{
		"empty": nil, "items in a row": bytes.Repeat([]byte("\x81\x00"), 1<<16), "breaks": bytes.Repeat([]byte{0xff}, 1<<16),
		"siblings": append([]byte("\x9f"), bytes.Repeat([]byte("\xa1\x41a\x9f\xff"), 1<<16)...), "half a head": {0x9b, 1},
		"a string beyond the end": bytes.Repeat([]byte("\x59\xff\xff\x81"), 2000), "a reserved length": bytes.Repeat([]byte{0x9c}, 2000),
		"tags in a row": append(bytes.Repeat([]byte{0xc1}, maxTags), 0), "tags of items": bytes.Repeat([]byte("\xc1\x00"), 2000),
	} {
		if depth, tags := exceedsCBORLimits(data); depth || tags {
			t.Errorf("%s: rejected", name)
		}
	}
	if depth, tags := exceedsCBORLimits([]byte(strings.Repeat("\xc1\x81", maxDepth/2+1))); !depth || tags {
		t.Errorf("nested tags: depth %v, tags %v", depth, tags)
	}
	for _, head := range []string{"\xc8", "\xd9\xd9\xf7"} {
		if _, tags := exceedsCBORLimits([]byte("\x81" + strings.Repeat(head, maxTags+1) + "\x00")); !tags {
			t.Errorf("%x: one tag more in a row is accepted", head)
		}
	}
}

// Every data item that the decoder of kube-apiserver accepts can be split into heads.
func FuzzCBORDepth(f *testing.F) {
	f.Add([]byte("\xd9\xd9\xf7\xa1\x41a\x9f\x00\x7f\x61a\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		depth, tags := exceedsCBORLimits(data)
		if tags {
			if len(data) <= maxTags {
				t.Errorf("%x: rejected because of its tags", data)
			}
			return
		}
		var value any
		if err := direct.Unmarshal(data, &value); err == nil && depth && len(data) <= maxDepth {
			t.Errorf("%x: rejected", data)
		}
	})
}
