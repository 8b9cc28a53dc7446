package api

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestProbeInitialEnd(t *testing.T) {
	s := newStack(t, nil)
	s.configMap("a", "1")
	r := s.do("GET", "/api/v1/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true", "")
	fmt.Println(r.body)
}

func TestProbeProto(t *testing.T) {
	s := newStack(t, nil)
	_ = apiext.SchemeGroupVersion
	// JSONSchemaProps.not = field 25?
	inner := []byte{}
	field := notField()
	n := 0
	// build from inside out: reversed buffer
	var rev []byte
	for len(rev) < 2<<20 {
		l := len(rev)
		var hdr []byte
		hdr = append(hdr, tag(field, 2)...)
		hdr = append(hdr, varint(uint64(l))...)
		for i := len(hdr) - 1; i >= 0; i-- {
			rev = append(rev, hdr[i])
		}
		n++
	}
	for i, j := 0, len(rev)-1; i < j; i, j = i+1, j-1 {
		rev[i], rev[j] = rev[j], rev[i]
	}
	inner = rev
	wrap := func(f int, b []byte) []byte { return append(append(tag(f, 2), varint(uint64(len(b)))...), b...) }
	schema := wrap(1, inner)                                 // CustomResourceValidation.openAPIV3Schema
	ver := append(wrap(1, []byte("v1")), wrap(4, schema)...) // version.schema=4
	spec := append(wrap(1, []byte("g.example")), wrap(7, ver)...)
	crd := append(wrap(1, wrap(1, []byte("xs.g.example"))), wrap(2, spec)...)
	tm := append(wrap(1, []byte("apiextensions.k8s.io/v1")), wrap(2, []byte("CustomResourceDefinition"))...)
	body := append([]byte("k8s\x00"), append(wrap(1, tm), wrap(2, crd)...)...)
	fmt.Println("levels", n, len(body))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_ = ctx
	t0 := time.Now()
	r, err := s.try("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", string(body), "Content-Type: application/vnd.kubernetes.protobuf")
	fmt.Println(time.Since(t0), r.status, err, r.body[:min(300, len(r.body))])
}

func notField() int {
	d := &apiext.JSONSchemaProps{Not: &apiext.JSONSchemaProps{}}
	b, _ := d.Marshal()
	for i := 0; i < len(b); {
		k, sz := uvarint(b[i:])
		i += sz
		f, w := int(k>>3), k&7
		switch w {
		case 2:
			l, sz := uvarint(b[i:])
			i += sz
			if l > 5 {
				return f
			}
			i += int(l)
		case 0:
			_, sz := uvarint(b[i:])
			i += sz
		}
	}
	panic("x")
}
func uvarint(b []byte) (uint64, int) {
	var v uint64
	for i, c := range b {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
func varint(v uint64) []byte {
	var b []byte
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
func tag(f, w int) []byte { return varint(uint64(f)<<3 | uint64(w)) }

func xProbeDeepJSONSchema(t *testing.T) {
	s := newStack(t, nil)
	for _, depth := range []int{1000, 3000, 9000} {
		body := `{"metadata":{"name":"xs.g.example"},"spec":{"group":"g.example","scope":"Cluster","names":{"plural":"xs","kind":"X"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` +
			strings.Repeat(`{"items":`, depth) + `{"description":"` + strings.Repeat("x", 100) + `"}` + strings.Repeat("}", depth) + `}}]}}`
		t0 := time.Now()
		r, err := s.try("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", body)
		fmt.Println(depth, len(body), time.Since(t0), r.status, err, len(r.body))
	}
}

func TestProbeSlowBodyShutdown(t *testing.T) {
	s := newStack(t, nil)
	for _, text := range []string{
		"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
	} {
		c := s.dial()
		io.WriteString(c, text)
	}
	time.Sleep(100 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	t0 := time.Now()
	err := s.api.Shutdown(ctx)
	fmt.Println("shutdown with a slow body", time.Since(t0), err)
	s.http.CloseClientConnections()
}
func TestProbeSlowList(t *testing.T) {
	s := newStack(t, nil)
	for i := range 20 {
		s.configMap(fmt.Sprint("a", i), strings.Repeat("v", 512<<10))
	}
	c := s.dial()
	io.WriteString(c, "GET /api/v1/configmaps HTTP/1.1\r\nHost: localhost\r\n\r\n")
	time.Sleep(300 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	t0 := time.Now()
	err := s.api.Shutdown(ctx)
	fmt.Println("shutdown with a stuck list", time.Since(t0), err)
	s.http.CloseClientConnections()
}
