package encoding

import (
	"bytes"
	"compress/gzip"
	"net"
	"net/http"
	"strings"
	"sync"
)

// minCompressedSize is the size in bytes from which a response is compressed.
const minCompressedSize = 128 << 10

// gzipLevel is the compression level of kube-apiserver.
const gzipLevel = 4

func newCompressors() *sync.Pool {
	return &sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, gzipLevel)
		if err != nil {
			panic(err) // gzipLevel is out of range
		}
		return w
	}}
}

// bodyWriter writes the body of a response. If the client accepts gzip, it buffers the first
// minCompressedSize bytes and compresses the body if it is larger.
type bodyWriter struct {
	w           http.ResponseWriter
	compressors *sync.Pool // of *gzip.Writer
	status      int
	mayCompress bool
	buffered    bytes.Buffer
	compressor  *gzip.Writer
	started     bool       // the header has been sent
	audit       *auditCopy // nil: the response is not in the audit log
}

// newBodyWriter returns the writer of a response whose headers are set.
func (p *Responder) newBodyWriter(w http.ResponseWriter, r *http.Request, status int) *bodyWriter {
	return &bodyWriter{w: w, compressors: p.compressors, status: status, mayCompress: acceptsGzip(r), audit: p.newAuditCopy(r)}
}

// acceptsGzip reports whether the client accepts gzip over a connection that is not a loopback
// connection, where compression costs more time than it saves.
func acceptsGzip(r *http.Request) bool {
	if isLoopbackClient(r) {
		return false
	}
	for encoding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(encoding, ";")
		if strings.TrimSpace(name) == "gzip" {
			// A weight of 0, with or without decimals, excludes gzip.
			decimals, zero := strings.CutPrefix(strings.TrimSpace(weight), "q=0")
			return !zero || strings.Trim(decimals, ".0") != ""
		}
	}
	return false
}

func isLoopbackClient(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback()
}

// Write implements io.Writer.
func (b *bodyWriter) Write(p []byte) (int, error) {
	if b.audit != nil {
		b.audit.add(p)
	}
	if b.started {
		return b.write(p)
	}
	if b.mayCompress && b.buffered.Len()+len(p) <= minCompressedSize {
		return b.buffered.Write(p)
	}
	if b.mayCompress {
		b.compress()
	}
	if err := b.start(); err != nil {
		return 0, err
	}
	return b.write(p)
}

func (b *bodyWriter) compress() {
	b.w.Header().Set("Content-Encoding", "gzip")
	b.w.Header().Add("Vary", "Accept-Encoding")
	b.compressor = b.compressors.Get().(*gzip.Writer)
	b.compressor.Reset(b.w)
}

// start sends the header and the buffered bytes.
func (b *bodyWriter) start() error {
	b.started = true
	b.w.WriteHeader(b.status)
	if b.buffered.Len() == 0 {
		return nil
	}
	_, err := b.write(b.buffered.Bytes())
	b.buffered = bytes.Buffer{}
	return err
}

func (b *bodyWriter) write(p []byte) (int, error) {
	if b.compressor != nil {
		return b.compressor.Write(p)
	}
	return b.w.Write(p)
}

// Close sends the rest of the body. It must not be called after a failed write.
func (b *bodyWriter) Close() error {
	if b.audit != nil {
		b.audit.end(b.w.Header().Get("Content-Type"))
	}
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
