package api

import "net/http"

// response is the ResponseWriter that handlers see: it knows what was sent, and
// lets others add headers at the last moment.
type response struct {
	http.ResponseWriter
	// beforeHeader runs once, before the header is sent.
	beforeHeader func(http.Header)
	status       int // 0 until the header is sent
	bytes        int64
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		if w.beforeHeader != nil {
			w.beforeHeader(w.Header())
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap serves http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
