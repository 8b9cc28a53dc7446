package api

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/types"
)

// The errors of a body that cannot be read are the client's and are not logged.
func TestUnreadableBodies(t *testing.T) {
	s := newTestServer(t, nil)
	for _, test := range []struct{ name, query, rest, status string }{
		{"a chunk without a length", "", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400 Bad Request"},
		{"an incomplete body", "?timeout=20ms", "Content-Length: 100\r\n\r\n{", "504 Gateway Timeout"},
		{"an empty body with a Content-Length", "?timeout=20ms", "Content-Length: 100\r\n\r\n", "504 Gateway Timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := s.dial()
			head := "POST /api/v1/namespaces/default/configmaps" + test.query + " HTTP/1.1\r\nHost: localhost\r\n"
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
		t.Errorf("the server logged %s", s.logs)
	}
}

func TestDeepJSONBodiesAreRejected(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "x")
	const configMaps = "/api/v1/namespaces/default/configmaps"
	deep := strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001)
	for _, c := range []struct{ method, path, contentType, body string }{
		{"POST", configMaps, "application/json", deep},
		{"PUT", configMaps + "/a", "application/json", deep},
		{"PATCH", configMaps + "/a", string(types.MergePatchType), deep},
		{"PATCH", configMaps + "/a", string(types.StrategicMergePatchType), deep},
		{"PATCH", configMaps + "/a", string(types.JSONPatchType), `[{"op":"add","path":"/data","value":` + deep + `}]`},
	} {
		got := s.must(http.StatusBadRequest, s.do(c.method, c.path, c.body, "Content-Type: "+c.contentType))
		if !strings.Contains(got.body, `"message":"the body is nested more than 1000 levels deep"`) {
			t.Errorf("%s as %s: %s", c.method, c.contentType, got.body)
		}
	}
}

// A schema nested in schemas: decoders recurse, and recover does not catch a stack overflow.
func TestDeepProtobufBodiesAreRejected(t *testing.T) {
	s := newTestServer(t, nil)
	const not = 28 // the field of a schema in the field openAPIV3Schema
	var reversed []byte
	for range 400_000 {
		field := protowire.AppendVarint(protowire.AppendTag(nil, not, protowire.BytesType), uint64(len(reversed)))
		slices.Reverse(field)
		reversed = append(reversed, field...)
	}
	slices.Reverse(reversed)
	field := func(number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	deep := reversed
	// openAPIV3Schema in schema in versions in spec in the raw bytes of a runtime.Unknown.
	for _, number := range []protowire.Number{1, 4, 7, 2, 2} {
		deep = field(number, deep)
	}
	header := slices.Concat(field(1, []byte("apiextensions.k8s.io/v1")), field(2, []byte("CustomResourceDefinition")))
	body := slices.Concat([]byte("k8s\x00"), field(1, header), deep)
	got := s.must(http.StatusBadRequest, s.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", string(body),
		"Content-Type: application/vnd.kubernetes.protobuf"))
	if !strings.Contains(got.body, "messages are nested more than 10000 deep") {
		t.Errorf("got %s", got.body)
	}
}

func TestLargeBodiesAreRejected(t *testing.T) {
	s := newTestServer(t, nil)
	body := `{"metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("x", maxBodySize) + `"}}`
	got := s.must(http.StatusRequestEntityTooLarge, s.do("POST", "/api/v1/namespaces/default/configmaps", body))
	if !strings.Contains(got.body, `"message":"Request entity too large: limit is 3145728"`) {
		t.Errorf("got %s", got.body)
	}
}
