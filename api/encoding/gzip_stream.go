package encoding

import (
	"compress/gzip"
	"net/http"
	"sync"
)

// StreamCompressor compresses a stream. Each Flush ends a gzip member, so that the client receives
// everything that was written, and an idle stream holds no compressor.
type StreamCompressor struct {
	w           http.ResponseWriter
	compressors *sync.Pool   // of *gzip.Writer
	compressor  *gzip.Writer // of the current member, nil before its first byte
}

// CompressStream returns the compressor of a response and sets its headers, or nil if the client
// does not accept gzip.
func (p *Responder) CompressStream(w http.ResponseWriter, r *http.Request) *StreamCompressor {
	if !acceptsGzip(r) {
		return nil
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	return &StreamCompressor{w: w, compressors: p.compressors}
}

// Write implements io.Writer.
func (c *StreamCompressor) Write(data []byte) (int, error) {
	if c.compressor == nil {
		c.compressor = c.compressors.Get().(*gzip.Writer)
		c.compressor.Reset(c.w)
	}
	return c.compressor.Write(data)
}

// Flush writes the end of the current member. It does not flush the response.
func (c *StreamCompressor) Flush() error {
	if c.compressor == nil {
		return nil
	}
	// A reader may wait for the next member before it returns the last block of this one, so the
	// data ends with a block before the last.
	err := c.compressor.Flush()
	if err == nil {
		err = c.compressor.Close()
	}
	c.compressor.Reset(nil)
	c.compressors.Put(c.compressor)
	c.compressor = nil
	return err
}
