package host

import (
	"encoding/json"
	"net/http"

	"github.com/miniapi/miniapi/internal/process"
)

// stream writes the events of the server until it has stopped. It stops the server when the
// client closes the connection.
func (s *server) stream(w http.ResponseWriter, r *http.Request, described *Server) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	out := http.NewResponseController(w)
	events := json.NewEncoder(w)
	send := func(event Event) error {
		if err := events.Encode(event); err != nil {
			return err
		}
		return out.Flush()
	}
	defer s.endLease()
	if send(Event{Server: described}) != nil {
		return
	}
	for sent := 0; ; {
		lines, total, more := s.log.since(sent)
		for _, line := range lines {
			if send(Event{Log: line}) != nil {
				return
			}
		}
		sent = total
		if more == nil {
			break
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
	var stopped Stopped
	if err := s.stop(); err != nil {
		stopped.Error = err.Error()
	}
	_ = send(Event{Stopped: &stopped}) // the client may be gone
}

// stopWithProcess stops the server when the process has ended. It returns when the server has
// stopped.
func (s *server) stopWithProcess(leaseholder *process.Process) {
	leaseholder.AwaitEnd(s.running.Done())
	s.endLease()
}
