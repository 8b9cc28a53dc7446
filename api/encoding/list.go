package encoding

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// List is a list to encode.
type List struct {
	Header metav1.TypeMeta
	Meta   metav1.ListMeta
	// ShowEmptyMeta encodes empty metadata fields too, as in lists of custom resources.
	ShowEmptyMeta bool
	// Items yields the bodies. It can be ranged over several times, with the same result.
	Items iter.Seq2[Body, error]
	// ItemHeader is the type header of every item. Empty: items have none.
	ItemHeader metav1.TypeMeta
}

// writeBufferSize is the size of the buffer between a list and its connection. A response that is
// larger takes more than one write.
const writeBufferSize = 64 << 10

func newWriteBuffers() *sync.Pool {
	return &sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBufferSize) }}
}

// WriteList sends a list item by item, so that it is never in memory as a whole. It returns the
// error of an item if nothing has been sent; afterwards it panics with http.ErrAbortHandler, which
// closes the connection, so that the client does not take the beginning of the list for all of it.
func (p *Responder) WriteList(w http.ResponseWriter, r *http.Request, f Format, l List) error {
	if f.MediaType.rewrite != nil {
		return p.writeRewrittenList(w, r, f, l)
	}
	defer p.LimitOnShutdown(http.NewResponseController(w).SetWriteDeadline, FinalWriteTimeout)()
	client := &clientWriter{body: p.newBodyWriter(w, r, http.StatusOK)}
	buffer := p.writeBuffers.Get().(*bufio.Writer)
	buffer.Reset(client)
	defer func() {
		buffer.Reset(nil) // so that the pool does not keep the request alive
		p.writeBuffers.Put(buffer)
	}()
	w.Header().Set("Content-Type", f.MediaType.Type)
	var out io.Writer = buffer
	if f.indents() {
		out = f.MediaType.indent(buffer)
	}
	err := f.MediaType.list(out, l)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = client.body.Close()
	}
	switch {
	case err == nil:
		return nil
	case !client.body.started:
		return err
	case client.err == nil && r.Context().Err() == nil:
		p.config.Logger.ErrorContext(r.Context(), "list aborted", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// clientWriter keeps the errors of writes to the client apart from the errors of items.
type clientWriter struct {
	body *bodyWriter
	err  error
}

// Write implements io.Writer.
func (c *clientWriter) Write(p []byte) (int, error) {
	n, err := c.body.Write(p)
	c.err = errors.Join(c.err, err)
	return n, err
}

// writeRewrittenList sends a list in a media type that rewrites whole documents.
func (p *Responder) writeRewrittenList(w http.ResponseWriter, r *http.Request, f Format, l List) error {
	var list bytes.Buffer
	if err := f.MediaType.list(&list, l); err != nil {
		return err
	}
	body, err := f.MediaType.rewrite(list.Bytes())
	if err != nil {
		return err
	}
	p.writeBudgeted(w, r, Response{f.MediaType.Type, http.StatusOK, body})
	return nil
}
