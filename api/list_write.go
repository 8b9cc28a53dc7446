package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
)

// listBuffer gathers items into larger writes: each costs two system calls.
const listBuffer = 64 << 10

func newListBuffers() *sync.Pool {
	return &sync.Pool{New: func() any { return bufio.NewWriterSize(nil, listBuffer) }}
}

// writeList sends a list item by item, so that it is never in memory as a whole.
// An item which turns out unreadable before anything was sent is an error;
// later the connection is broken off, for half a list must not look whole.
func (c *call) writeList(l listing) error {
	if c.format.media.rewrite != nil {
		return c.writeWholeList(l)
	}
	defer c.server.cutOnShutdown(http.NewResponseController(c.w).SetWriteDeadline, lastItems)()
	sent := &sentError{body: c.server.startBody(c.w, c.r, http.StatusOK)}
	out := c.server.listBuffers.Get().(*bufio.Writer)
	out.Reset(sent)
	defer func() {
		out.Reset(nil) // it must not keep the request
		c.server.listBuffers.Put(out)
	}()
	c.w.Header().Set("Content-Type", c.format.media.Type)
	var to io.Writer = out
	if c.format.indents() {
		to = c.format.media.indent(out)
	}
	err := c.format.media.list(to, l)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = sent.body.Close()
	}
	switch {
	case err == nil:
		return nil
	case !sent.body.started:
		return err
	case sent.err == nil && c.r.Context().Err() == nil:
		c.server.config.Logger.ErrorContext(c.r.Context(), "list broken off", "path", c.r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// sentError remembers that it was the client who went away.
type sentError struct {
	body *body
	err  error
}

// Write implements io.Writer.
func (s *sentError) Write(p []byte) (int, error) {
	n, err := s.body.Write(p)
	s.err = errors.Join(s.err, err)
	return n, err
}

// writeWholeList sends a list in an encoding that is made of the whole document.
func (c *call) writeWholeList(l listing) error {
	var list bytes.Buffer
	if err := c.format.media.list(&list, l); err != nil {
		return err
	}
	whole, err := c.format.media.rewrite(list.Bytes())
	if err != nil {
		return err
	}
	c.server.writeOwned(c.w, c.r, c.format.media.Type, answer{http.StatusOK, whole})
	return nil
}
