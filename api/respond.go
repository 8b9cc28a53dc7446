package api

import (
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// encodeWhole encodes an object, for the human eye if that is asked for.
func encodeWhole(f format, header metav1.TypeMeta, obj runtime.Object) ([]byte, error) {
	body, err := f.media.object(header, obj)
	if err != nil {
		return nil, err
	}
	if f.pretty && f.media.pretty != nil {
		body = f.media.pretty(body)
	}
	return body, nil
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
	w.Header().Set("Content-Type", contentType)
	out := s.startBody(w, r, a.status)
	if !out.mayCompress {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	// A failed write means that the client is gone: nobody is left to tell.
	if _, err := out.Write(a.body); err == nil {
		_ = out.Close()
	}
}

// writeError answers with the Status that err amounts to, and logs it if it is
// the server's fault.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status.Code == http.StatusInternalServerError {
		s.config.Logger.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	s.writeStatus(w, r, status)
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
