package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// encodeWhole encodes an object, for the human eye if that is asked for.
func encodeWhole(f format, header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	bytes, err := f.media.encode(obj)
	if err != nil {
		return nil, err
	}
	return f.finish(f.media.wrap(nil, header, encoded{bytes: bytes}))
}

// indents reports whether documents are formatted for people.
func (f format) indents() bool { return f.pretty && f.media.indent != nil }

// inPieces tells whether documents are sent as they are wrapped.
func (f format) inPieces() bool {
	return f.media.rewrite == nil && !f.indents()
}

// finish makes one piece of a document, as it is to be sent.
func (f format) finish(d document) ([]byte, error) {
	whole := d.join()
	if f.media.rewrite != nil {
		return f.media.rewrite(whole)
	}
	if f.indents() {
		return indentJSON(whole), nil
	}
	return whole, nil
}

func headerOf(obj runtime.Object) metav1.TypeMeta {
	version, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

// answer is a whole answer, encoded.
type answer struct {
	status int
	body   []byte
}

func (s *Server) writeBytes(w http.ResponseWriter, r *http.Request, contentType string, a answer) {
	s.writeDocument(w, r, contentType, a.status, document{rest: a.body})
}

func (s *Server) writeDocument(w http.ResponseWriter, r *http.Request, contentType string, status int, d document) {
	w.Header().Set("Content-Type", contentType)
	out := s.startBody(w, r, status)
	if !out.mayCompress {
		w.Header().Set("Content-Length", strconv.Itoa(d.size()))
	}
	if d.size() > listBuffer {
		defer s.cutOnShutdown(http.NewResponseController(w).SetWriteDeadline, lastItems)()
	}
	// A failed write means that the client is gone: nobody is left to tell.
	if err := d.writeTo(out); err == nil {
		_ = out.Close()
	}
}

// writeError answers with the Status of err. It logs an error of the server, but
// not one that the client caused by closing its connection.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status.Code == http.StatusInternalServerError && !errors.Is(r.Context().Err(), context.Canceled) {
		s.config.Logger.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	s.writeStatus(w, r, status)
}

// refuse answers those who may not do what they ask for. The header is
// kube-apiserver's.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.writeError(w, r, err)
}

func (s *Server) writeStatus(w http.ResponseWriter, r *http.Request, status *metav1.Status) {
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	a := answer{status: int(status.Code)}
	contentType := runtime.ContentTypeJSON
	if f, err := s.codec.negotiate(r, noTransformation); err != nil {
		a.body = encodeStatusAside(status)
	} else if a.body, err = encodeWhole(f, statusHeader, status); err != nil {
		a.body = encodeStatusAside(status)
	} else {
		contentType = f.media.Type
	}
	s.writeBytes(w, r, contentType, a)
}
