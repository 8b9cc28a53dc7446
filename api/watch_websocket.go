package api

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"

	"golang.org/x/net/websocket"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
)

// watchOverWebSocket upgrades the connection and calls serve with its output. The context of serve
// ends with cancel, when the client closes the connection. A failed handshake is answered as by
// kube-apiserver: an Origin header is required.
func (c *call) watchOverWebSocket(cancel context.CancelFunc, serve func(watchOutput)) {
	handler := func(conn *websocket.Conn) {
		received := make(chan struct{})
		go func() { // ended by conn.Close
			defer close(received)
			defer cancel()
			_, _ = io.Copy(io.Discard, conn)
		}()
		serve(&webSocketOutput{Conn: conn, format: c.format})
		_ = conn.Close()
		<-received
	}
	websocket.Handler(handler).ServeHTTP(hijacker{c.w}, c.r)
}

// isWebSocket reports whether a request can be upgraded.
func isWebSocket(r *http.Request) bool { return r.ProtoMajor == 1 && request.IsWebSocket(r) }

// hijacker takes over the connection of any ResponseWriter that http.ResponseController supports.
type hijacker struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// webSocketOutput sends each frame as a message of its own, in text if the media type is text.
type webSocketOutput struct {
	*websocket.Conn
	format encoding.Format
}

func (o *webSocketOutput) frames() encoding.FrameEncoder { return o.format.MessageEncoder() }

func (o *webSocketOutput) write(frame encoding.Document) error {
	var message bytes.Buffer
	message.Grow(frame.Size())
	if err := frame.Write(&message); err != nil {
		return err
	}
	if o.format.MediaType.Text {
		return websocket.Message.Send(o.Conn, message.String())
	}
	return websocket.Message.Send(o.Conn, message.Bytes())
}

func (o *webSocketOutput) flush() error { return nil }
