package outgoing

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBodyBytes is the maximum size of a response body. It exceeds an object of the maximum size,
// and a patch for it, in base64 or with escapes.
const maxBodyBytes = 8 << 20

// maxHeaderBytes is the maximum size of a response header.
const maxHeaderBytes = 1 << 20

var (
	errRedirect = errors.New("the server attempted to redirect this request, which is not permitted")
	errTooLong  = fmt.Errorf("the answer is longer than %d bytes", maxBodyBytes)
)

// NewClient returns a client that reads at most 8 MiB of a response body and 1 MiB of its header.
// It follows no redirects, because they can lead to a server that is not configured or does not
// use TLS.
func NewClient(t *http.Transport) *http.Client {
	t.MaxResponseHeaderBytes = maxHeaderBytes
	return &http.Client{
		Transport:     limitedTransport{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// limitedTransport limits the size of response bodies.
type limitedTransport struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &limitedBody{body: response.Body, left: maxBodyBytes}
	return response, nil
}

// limitedBody is a body that returns errTooLong after left more bytes.
type limitedBody struct {
	body io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
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
func (b *limitedBody) Close() error { return b.body.Close() }
