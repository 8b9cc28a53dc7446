package encoding

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/internal/memory"
)

// Config configures a Responder. Scheme is required.
type Config struct {
	// Scheme holds the Go types of request and response bodies.
	Scheme *runtime.Scheme
	// CBOR adds the media type of CBOR.
	CBOR bool
	// Audit adds the bodies of responses to the audit log, for the events that have them.
	Audit bool
	// Logger receives internal errors. Nil: they are discarded.
	Logger *slog.Logger
	// Shutdown is done when the shutdown of the server begins. Nil: never.
	Shutdown context.Context
}

// Responder writes responses in the media types of its Codec. Safe for concurrent use.
type Responder struct {
	*Codec
	// ListBuffers are buffers for lists, EventBuffers smaller ones for the events of a watch.
	ListBuffers, EventBuffers *WriteBuffers

	config      Config
	compressors *sync.Pool // of *gzip.Writer
}

// NewResponder returns a Responder.
func NewResponder(config Config) *Responder {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Shutdown == nil {
		config.Shutdown = context.Background()
	}
	return &Responder{
		Codec:        NewCodec(config),
		ListBuffers:  newWriteBuffers(writeBufferSize),
		EventBuffers: newWriteBuffers(eventBufferSize),
		config:       config,
		compressors:  newCompressors(),
	}
}

// WithoutCBOR returns a Responder that shares everything but the media types.
func (p *Responder) WithoutCBOR() *Responder {
	if !p.config.CBOR {
		return p
	}
	other := *p
	other.config.CBOR = false
	other.Codec = NewCodec(other.config)
	return &other
}

// Response is a response with an encoded body, which may be shared.
type Response struct {
	ContentType string
	Status      int
	Body        []byte
}

// WriteResponse sends a response.
func (p *Responder) WriteResponse(w http.ResponseWriter, r *http.Request, response Response) {
	p.writeDocument(w, r, response, Document{rest: response.Body})
}

// Object is a response with one object.
type Object struct {
	Status int
	Header metav1.TypeMeta
	Body   Body
}

// WriteObject sends an object.
func (p *Responder) WriteObject(w http.ResponseWriter, r *http.Request, f Format, o Object) error {
	document := f.MediaType.wrap(nil, o.Header, o.Body)
	response := Response{ContentType: f.MediaType.Type, Status: o.Status}
	if f.MediaType.rewrite == nil && !f.indents() {
		p.writeDocument(w, r, response, document)
		return nil
	}
	err := reserve(r, document.Size())
	if err == nil {
		response.Body, err = f.convert(document)
	}
	if err == nil {
		p.WriteResponse(w, r, response)
	}
	return err
}

// reserve reserves memory for a response that is built as a whole from about size bytes: the
// source, or its decoded form, and the response. It returns memory.ErrExhausted if a read exceeds
// the budget. The response of a write is always built, because the write has happened.
func reserve(r *http.Request, size int) error {
	if r.Method != http.MethodGet {
		return nil
	}
	return memory.Grow(r.Context(), 2*int64(size))
}

// writeDocument sends a document as the body of a response.
func (p *Responder) writeDocument(w http.ResponseWriter, r *http.Request, response Response, d Document) {
	w.Header().Set("Content-Type", response.ContentType)
	out := p.newBodyWriter(w, r, response.Status)
	if !out.mayCompress {
		w.Header().Set("Content-Length", strconv.Itoa(d.Size()))
	}
	if d.Size() > writeBufferSize {
		defer p.LimitOnShutdown(http.NewResponseController(w).SetWriteDeadline, FinalWriteTimeout)()
	}
	// A write fails only if the client has closed the connection.
	if err := d.Write(out); err == nil {
		_ = out.Close()
	}
}

// WriteError sends the Status of err. It logs internal errors, except those of requests that the
// client has canceled.
func (p *Responder) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	status := StatusOf(err)
	if status.Code == http.StatusInternalServerError && !errors.Is(r.Context().Err(), context.Canceled) {
		p.config.Logger.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err, "auditID", w.Header().Get("Audit-Id"))
	}
	p.WriteStatus(w, r, status)
}

// WriteStatus sends a Status that StatusOf returned.
func (p *Responder) WriteStatus(w http.ResponseWriter, r *http.Request, status *metav1.Status) {
	request.RecordFrom(r.Context()).SetReason(string(status.Reason))
	request.AuditFrom(r.Context()).SetStatus(*status)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	response := Response{ContentType: runtime.ContentTypeJSON, Status: int(status.Code)}
	if f, err := p.Negotiate(r, NoTransformation); err != nil {
		response.Body = fallbackStatus(status)
	} else if response.Body, err = f.encodeDocument(StatusHeader, status); err != nil {
		response.Body = fallbackStatus(status)
	} else {
		response.ContentType = f.MediaType.Type
	}
	p.WriteResponse(w, r, response)
}

// WriteTooManyRequests sends a 429 in plain text, as kube-apiserver does. client-go creates a
// Status for it.
func WriteTooManyRequests(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
}
