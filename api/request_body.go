package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/registry"
)

// maxBodySize is the largest body of a request in bytes.
const maxBodySize = 3 << 20

// finalReadTimeout is the time that a client has to send the rest of a body after the shutdown
// began.
const finalReadTimeout = 100 * time.Millisecond

// readBody reads the body until the deadline of the request. Its errors are the client's: 400, 413
// or 504.
func (c *call) readBody() ([]byte, error) {
	if c.r.Body == http.NoBody {
		return nil, nil
	}
	setDeadline := http.NewResponseController(c.w).SetReadDeadline
	if deadline, ok := c.r.Context().Deadline(); ok {
		_ = setDeadline(deadline)
	}
	if err := memory.Grow(c.r.Context(), bodyMemory(c.r.ContentLength)); err != nil {
		return nil, err
	}
	release := c.server.responder.LimitOnShutdown(setDeadline, finalReadTimeout)
	var body bytes.Buffer
	body.Grow(initialBodySize(c.r.ContentLength))
	_, err := body.ReadFrom(http.MaxBytesReader(c.w, c.r.Body, maxBodySize))
	release()
	if err == nil {
		// net/http continues to read the connection to notice that the client closes it.
		_ = setDeadline(time.Time{})
		return body.Bytes(), nil
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", tooLarge.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, apierrors.NewTimeoutError("the body of the request did not arrive in time", 0)
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("read the body: %v", err))
}

// bodyMemory returns the memory to reserve for a body and the object that is decoded from it. A
// Content-Length of -1 is unknown.
func bodyMemory(contentLength int64) int64 {
	if contentLength < 0 || contentLength > maxBodySize {
		contentLength = maxBodySize
	}
	return 2 * contentLength
}

// initialBodySize returns the size of the buffer for a body with this Content-Length, which the
// client may have made up.
func initialBodySize(contentLength int64) int {
	const maxInitial = 64 << 10
	return int(min(max(contentLength, 0), maxInitial)) + bytes.MinRead
}

// decodeBody decodes the body of the request into an object of the hub version. Depending on
// fieldValidation, unknown and duplicate fields are ignored, become warnings, or are a 400.
func (c *call) decodeBody(fieldValidation string) (runtime.Object, error) {
	mediaType, err := c.server.responder.ForContentType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	data, err := c.readBody()
	if err != nil {
		return nil, err
	}
	obj, warnings, err := mediaType.DecodeBody(data, c.decodeOptions(fieldValidation))
	if err != nil {
		return nil, err
	}
	c.warnOfFields(warnings)
	if c.sub == nil { // a subresource takes the kind from the stored object
		c.kindError = encoding.CheckCustomKind(obj, c.kind())
	}
	registry.ClearKind(obj)
	if obj, err = c.toHub(obj); err == nil {
		c.auditObject(obj)
	}
	return obj, err
}

// decodeOptions returns the options to decode an object of the requested kind and version.
func (c *call) decodeOptions(fieldValidation string) encoding.DecodeOptions {
	o := encoding.DecodeOptions{Kind: c.kind(), Into: c.newBody(), FieldValidation: fieldValidation}
	if c.resourceKind() {
		o.Prune = c.version.Prune
	} else {
		o.MoreVersions = c.sub.MoreVersions
	}
	return o
}

// warnOfFields adds a warning for each unknown or duplicate field.
func (c *call) warnOfFields(errs []error) {
	for _, err := range errs {
		for _, text := range fieldWarnings(err) {
			registry.AddWarning(c.r.Context(), text)
		}
	}
}

// fieldWarnings splits an error of the YAML decoder into its lines.
func fieldWarnings(err error) []string {
	text := err.Error()
	_, lines, found := strings.Cut(text, "yaml: unmarshal errors:\n")
	if !found {
		return []string{text}
	}
	var texts []string
	for line := range strings.SplitSeq(lines, "\n") {
		texts = append(texts, strings.TrimSpace(line))
	}
	return texts
}
