package webhooks

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxAnswer is how many bytes the answer of a webhook may have: an object of the largest size,
// or a patch that makes one, in base64 or with escapes, is shorter.
const maxAnswer = 8 << 20

// maxAnswerHeader is how many bytes its header may have.
const maxAnswerHeader = 1 << 20

var (
	errRedirect = errors.New("the webhook attempted to redirect this request, which is not permitted")
	errTooLong  = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
)

// newClient returns a client that follows no redirects, which could lead to a server that is not
// the configured one, or away from TLS, and reads no answer beyond maxAnswer.
func newClient(t *http.Transport) *http.Client {
	return &http.Client{
		Transport:     boundedTransport{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// boundedTransport bounds the answers that a transport returns.
type boundedTransport struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &boundedBody{body: answer.Body, left: maxAnswer}
	return answer, nil
}

// boundedBody is a body of which at most left more bytes are read; errTooLong if it has more.
type boundedBody struct {
	body io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLong
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, errTooLong
	}
	return n, err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error { return b.body.Close() }
