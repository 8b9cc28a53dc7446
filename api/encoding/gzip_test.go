package encoding

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestCompression(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", minCompressedSize/16)
	tests := []struct {
		name, peer, accept, text string
		compressed               bool
	}{
		{"a large response to a remote client", "192.0.2.1:4000", "gzip", large + "!", true},
		{"gzip beside other encodings", "192.0.2.1:4000", "br, gzip;q=0.5", large + "!", true},
		{"a response of 128 KiB", "192.0.2.1:4000", "gzip", large, false},
		{"an IPv4 loopback connection", "127.0.0.1:4000", "gzip", large + "!", false},
		{"an IPv6 loopback connection", "[::1]:4000", "gzip", large + "!", false},
		{"gzip of weight 0", "192.0.2.1:4000", "gzip;q=0.0, br", large + "!", false},
		{"no gzip in Accept-Encoding", "192.0.2.1:4000", "br", large + "!", false},
	}
	p := NewResponder(Config{Scheme: runtime.NewScheme()})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
			r.RemoteAddr = test.peer
			r.Header.Set("Accept-Encoding", test.accept)
			out := p.newBodyWriter(w, r, 200)
			for piece := range strings.SplitAfterSeq(test.text, "f") {
				if _, err := io.WriteString(out, piece); err != nil {
					t.Fatal(err)
				}
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			got := w.Body.Bytes()
			if encoding := w.Header().Get("Content-Encoding"); (encoding == "gzip") != test.compressed {
				t.Fatalf("Content-Encoding is %q", encoding)
			}
			if test.compressed {
				got = inflate(t, got)
			}
			if string(got) != test.text {
				t.Errorf("%d bytes became %d", len(test.text), len(got))
			}
		})
	}
}

func inflate(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
