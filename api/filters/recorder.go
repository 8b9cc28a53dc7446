package filters

import (
	"bufio"
	"net"
	"net/http"
)

// Recorder is a ResponseWriter that records the status code and the size of the response.
type Recorder struct {
	http.ResponseWriter
	Status int // 0 until the header is sent
	Bytes  int64
	// beforeHeader, if not nil, is called once, before the header is sent or after Hijack.
	beforeHeader func(status int, header http.Header)
}

// recorderOf returns w if it is a Recorder, and otherwise a new Recorder of w.
func recorderOf(w http.ResponseWriter) *Recorder {
	if recorder, ok := w.(*Recorder); ok {
		return recorder
	}
	return &Recorder{ResponseWriter: w}
}

// WriteHeader implements http.ResponseWriter.
func (w *Recorder) WriteHeader(status int) {
	if w.Status == 0 {
		w.Status = status
		if w.beforeHeader != nil {
			w.beforeHeader(status, w.Header())
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *Recorder) Write(p []byte) (int, error) {
	if w.Status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	return n, err
}

// Hijack implements http.Hijacker.
func (w *Recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.Status = http.StatusSwitchingProtocols
		if w.beforeHeader != nil {
			w.beforeHeader(w.Status, w.Header())
		}
	}
	return conn, buffer, err
}

// Unwrap returns the wrapped ResponseWriter, for http.ResponseController.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
