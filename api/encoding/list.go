package encoding

import (
	"bufio"
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
	// Len is the number of items, Largest the approximate size of the largest one in bytes.
	Len, Largest int
	// Items yields the bodies. It can be ranged over several times, with the same result.
	Items iter.Seq2[Body, error]
	// ItemHeader is the type header of every item. Empty: items have none.
	ItemHeader metav1.TypeMeta
	// columns are the column definitions of a Table in JSON. Nil: the list is not a Table.
	columns []byte
	// nullIfEmpty encodes a list without items as null.
	nullIfEmpty bool
}

// itemsKey returns the name of the field that has the items.
func (l List) itemsKey() string {
	if l.columns != nil {
		return "rows"
	}
	return "items"
}

// isNull reports whether the field that has the items is null.
func (l List) isNull() bool { return l.nullIfEmpty && l.Len == 0 }

// writeBufferSize is the size of the buffer between a list and its connection. A response that is
// larger takes more than one write.
const writeBufferSize = 64 << 10

// eventBufferSize is the size of the buffer that joins the frames of a watch to larger writes.
const eventBufferSize = 16 << 10

// WriteBuffers is a pool of buffers between documents and connections.
type WriteBuffers struct{ pool sync.Pool } // of *bufio.Writer

func newWriteBuffers(size int) *WriteBuffers {
	return &WriteBuffers{sync.Pool{New: func() any { return bufio.NewWriterSize(nil, size) }}}
}

// Get returns an empty buffer that writes to w. The caller returns it with Put.
func (b *WriteBuffers) Get(w io.Writer) *bufio.Writer {
	buffer := b.pool.Get().(*bufio.Writer)
	buffer.Reset(w)
	return buffer
}

// Put discards the content of a buffer, which must not be used afterwards.
func (b *WriteBuffers) Put(buffer *bufio.Writer) {
	buffer.Reset(nil) // so that the pool does not keep the request alive
	b.pool.Put(buffer)
}

// WriteList sends a list item by item, so that it is never in memory as a whole. It returns the
// error of an item if nothing has been sent; afterwards it panics with http.ErrAbortHandler, which
// closes the connection, so that the client does not take the beginning of the list for all of it.
func (p *Responder) WriteList(w http.ResponseWriter, r *http.Request, f Format, l List) error {
	if err := f.MediaType.reserveList(r, l); err != nil {
		return err
	}
	defer p.LimitOnShutdown(http.NewResponseController(w).SetWriteDeadline, FinalWriteTimeout)()
	client := &clientWriter{body: p.newBodyWriter(w, r, http.StatusOK)}
	buffer := p.ListBuffers.Get(client)
	defer p.ListBuffers.Put(buffer)
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
		p.config.Logger.ErrorContext(r.Context(), "list aborted", "path", r.URL.Path, "error", err, "auditID", w.Header().Get("Audit-Id"))
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
