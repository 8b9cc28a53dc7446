package api

import (
	"bytes"
	"compress/gzip"
	"net"
	"net/http"
	"strings"
	"sync"
)

// compressFrom is the size in bytes from which an answer is worth compressing.
const compressFrom = 128 << 10

// gzipLevel trades size for speed as kube-apiserver does.
const gzipLevel = 4

func newCompressors() *sync.Pool {
	return &sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, gzipLevel)
		if err != nil {
			panic(err) // the level is out of range: a mistake in this file
		}
		return w
	}}
}

// body writes the body of an answer and compresses it if that is wanted and it
// turns out to be large: until then it holds back what it is given.
type body struct {
	w           http.ResponseWriter
	compressors *sync.Pool // of *gzip.Writer
	status      int
	mayCompress bool
	held        bytes.Buffer
	compressor  *gzip.Writer
	started     bool
}

// startBody begins an answer whose headers are set.
func (s *Server) startBody(w http.ResponseWriter, r *http.Request, status int) *body {
	return &body{w: w, compressors: s.compressors, status: status, mayCompress: wantsGzip(r)}
}

// wantsGzip tells whether compression helps: on a loopback connection bytes are
// cheaper than the work to save them.
func wantsGzip(r *http.Request) bool {
	if peer, ok := peerOf(r); ok && peer.IsLoopback() {
		return false
	}
	for encoding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(encoding, ";")
		if strings.TrimSpace(name) == "gzip" {
			// Weight 0, which may have decimals, means that it is not wanted.
			decimals, zero := strings.CutPrefix(strings.TrimSpace(weight), "q=0")
			return !zero || strings.Trim(decimals, ".0") != ""
		}
	}
	return false
}

func peerOf(r *http.Request) (net.IP, bool) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return nil, false
	}
	ip := net.ParseIP(host)
	return ip, ip != nil
}

// Write implements io.Writer.
func (b *body) Write(p []byte) (int, error) {
	if b.started {
		return b.write(p)
	}
	if b.mayCompress && b.held.Len()+len(p) <= compressFrom {
		return b.held.Write(p)
	}
	if b.mayCompress {
		b.compress()
	}
	if err := b.start(); err != nil {
		return 0, err
	}
	return b.write(p)
}

func (b *body) compress() {
	b.w.Header().Set("Content-Encoding", "gzip")
	b.w.Header().Add("Vary", "Accept-Encoding")
	b.compressor = b.compressors.Get().(*gzip.Writer)
	b.compressor.Reset(b.w)
}

// start sends the header and what was held back.
func (b *body) start() error {
	b.started = true
	b.w.WriteHeader(b.status)
	if b.held.Len() == 0 {
		return nil
	}
	_, err := b.write(b.held.Bytes())
	b.held = bytes.Buffer{}
	return err
}

func (b *body) write(p []byte) (int, error) {
	if b.compressor != nil {
		return b.compressor.Write(p)
	}
	return b.w.Write(p)
}

// Close sends what is left. It is not called for an answer that failed halfway.
func (b *body) Close() error {
	if !b.started {
		if err := b.start(); err != nil {
			return err
		}
	}
	if b.compressor == nil {
		return nil
	}
	err := b.compressor.Close()
	b.compressor.Reset(nil)
	b.compressors.Put(b.compressor)
	b.compressor = nil
	return err
}
