package api

import (
	"bufio"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/miniapi/miniapi/api/encoding"
)

// watchOutput is the connection of a watch.
type watchOutput interface {
	// frames returns the encoder of the frames that write accepts.
	frames() encoding.FrameEncoder
	// write writes a frame, which may stay in a buffer until flush.
	write(frame encoding.Document) error
	// flush sends the buffered frames. It fails if the client has closed the connection.
	flush() error
	SetWriteDeadline(deadline time.Time) error
}

// httpOutput writes frames to the body of the response.
type httpOutput struct {
	*http.ResponseController
	body       io.Writer
	out        *bufio.Writer          // nil: no frames are buffered
	buffers    *encoding.WriteBuffers // of out
	responder  *encoding.Responder
	compressor *encoding.StreamCompressor // nil: frames are not compressed
	format     encoding.Format
}

// newHTTPOutput sends the header of the response. A watch that begins with a list may be
// compressed.
func (c *call) newHTTPOutput(options internalversion.ListOptions) *httpOutput {
	o := &httpOutput{ResponseController: http.NewResponseController(c.w), format: c.format}
	c.w.Header().Set("Content-Type", c.format.MediaType.Stream)
	o.body, o.responder, o.buffers = c.w, c.server.responder, c.server.responder.EventBuffers
	if sendsInitialEvents(options) {
		o.buffers = c.server.responder.ListBuffers
	}
	if isWatchList(options) && c.server.config.WatchListCompression {
		if o.compressor = c.server.responder.CompressStream(c.w, c.r); o.compressor != nil {
			o.body = o.compressor
		}
	}
	c.w.WriteHeader(http.StatusOK)
	return o
}

func (o *httpOutput) frames() encoding.FrameEncoder { return o.format.FrameEncoder() }

// write copies the frame, whose body is shared by watches, only into the buffer. An idle watch has
// no buffer.
func (o *httpOutput) write(frame encoding.Document) error {
	if o.out == nil {
		o.out = o.buffers.Get(o.body)
	}
	return frame.Write(o.out)
}

func (o *httpOutput) flush() error {
	if o.out != nil {
		err := o.out.Flush()
		o.buffers.Put(o.out)
		// The initial events end with the first flush.
		o.out, o.buffers = nil, o.responder.EventBuffers
		if err != nil {
			return err
		}
	}
	if o.compressor != nil {
		if err := o.compressor.Flush(); err != nil {
			return err
		}
	}
	return o.Flush()
}
