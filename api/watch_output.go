package api

import (
	"bufio"
	"net/http"
	"time"

	"github.com/miniapi/miniapi/api/encoding"
)

// watchBufferSize is the size of the buffer that joins frames to larger writes.
const watchBufferSize = 16 << 10

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
	out    *bufio.Writer
	format encoding.Format
}

// newHTTPOutput sends the header of the response.
func (c *call) newHTTPOutput() *httpOutput {
	c.w.Header().Set("Content-Type", c.format.MediaType.Stream)
	c.w.WriteHeader(http.StatusOK)
	return &httpOutput{
		ResponseController: http.NewResponseController(c.w),
		out:                bufio.NewWriterSize(c.w, watchBufferSize),
		format:             c.format,
	}
}

func (o *httpOutput) frames() encoding.FrameEncoder { return o.format.FrameEncoder() }

// write copies the frame, whose body is shared by watches, only into the buffer.
func (o *httpOutput) write(frame encoding.Document) error { return frame.Write(o.out) }

func (o *httpOutput) flush() error {
	if err := o.out.Flush(); err != nil {
		return err
	}
	return o.Flush()
}
