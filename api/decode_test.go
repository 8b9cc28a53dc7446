package api

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is wrong with how a body was sent is the client's fault.
func TestBodiesThatCannotBeRead(t *testing.T) {
	s := newStack(t, nil)
	const head = "POST /api/v1/namespaces/default/configmaps?timeout=20ms HTTP/1.1\r\nHost: localhost\r\n"
	for _, test := range []struct{ name, rest, status string }{
		{"a chunk without a length", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400 Bad Request"},
		{"a body that does not come to its end", "Content-Length: 100\r\n\r\n{", "504 Gateway Timeout"},
		{"a body of which nothing comes", "Content-Length: 100\r\n\r\n", "504 Gateway Timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := s.dial()
			if _, err := io.WriteString(conn, head+test.rest); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+test.status) || strings.Contains(string(got), "Retry-After") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if s.logs.Len() > 0 {
		t.Errorf("the server takes the blame: %s", s.logs)
	}
}

// nested returns a protobuf message in which as many lie in one another, each
// in the field with this tag, and a number in the innermost.
func nested(tag []byte, depth int) []byte {
	reversed := []byte{0, 1 << 3}
	for range depth {
		field := protowire.AppendVarint(slices.Clone(tag), uint64(len(reversed)))
		slices.Reverse(field)
		reversed = append(reversed, field...)
	}
	slices.Reverse(reversed)
	return reversed
}

func TestNestingIsCounted(t *testing.T) {
	plain := protowire.AppendTag(nil, 29, protowire.BytesType)
	inGroup := slices.Concat(protowire.AppendTag(nil, 99, protowire.StartGroupType), protowire.AppendTag(nil, 99, protowire.EndGroupType), plain)
	behindText := slices.Concat(protowire.AppendTag(nil, 5, protowire.BytesType), protowire.AppendString(nil, "\x0a\xff text"), plain)
	behindNumbers := slices.Concat([]byte{1 << 3, 0x80, 0x01, 2<<3 | 1, 0, 0, 0, 0, 0, 0, 0, 0, 3<<3 | 5, 0, 0, 0, 0}, plain)
	// 2^35 does not fit into the number of a field, and decoders forget it.
	tooLong := protowire.AppendVarint(nil, 1<<35|29<<3|uint64(protowire.BytesType))
	for name, tag := range map[string][]byte{
		"plain": plain, "behind a group": inGroup, "behind text": behindText, "behind numbers": behindNumbers, "a tag with bits too many": tooLong,
	} {
		t.Run(name, func(t *testing.T) {
			if nestsTooDeep(nested(tag, maxNesting)) {
				t.Error("as many as allowed are too many")
			}
			if !nestsTooDeep(nested(tag, maxNesting+1)) {
				t.Error("one more is not noticed")
			}
		})
	}
	for name, data := range map[string]string{
		"nothing": "", "zeros": strings.Repeat("\x00", 1<<20), "lines": strings.Repeat("\n", 1<<20), "text": strings.Repeat("text, ", 1<<18), "half a tag": "\xff",
	} {
		if nestsTooDeep([]byte(data)) {
			t.Errorf("%s nests too deep", name)
		}
	}
}

// A schema in a schema in a schema: what walks through it recurses, and no
// recover helps against a stack that has overflown.
func TestDeeplyNestedProtobufIsRefused(t *testing.T) {
	s := newStack(t, nil)
	const not = 28 // and from the outside in spec, versions, schema, openAPIV3Schema:
	deep := nested(protowire.AppendTag(nil, not, protowire.BytesType), 400_000)
	for _, field := range []protowire.Number{1, 4, 7, 2} {
		deep = appendBytesField(nil, field, deep)
	}
	header := metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	body := slices.Concat(appendEnvelope(nil, header, len(deep)), deep, envelopeEnd)
	got := s.must(http.StatusBadRequest, s.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", string(body),
		"Content-Type: application/vnd.kubernetes.protobuf"))
	if !strings.Contains(got.body, "messages are nested more than 10000 deep") {
		t.Errorf("got %s", got.body)
	}
}
