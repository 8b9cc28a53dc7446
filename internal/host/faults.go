package host

import (
	"net/http"

	"github.com/miniapi/miniapi/testapi/faults"
)

// ActiveFault describes a fault of a server.
type ActiveFault struct {
	// ID identifies the fault among the faults of the server.
	ID string `json:"id"`
	faults.Fault
	Status faults.Counts `json:"status"`
}

func describe(active *faults.Active) ActiveFault {
	return ActiveFault{ID: active.ID, Fault: active.Fault(), Status: active.Counts()}
}

func (s *server) listFaults(*http.Request) (any, error) {
	list := []ActiveFault{}
	for _, active := range s.running.Faults().List() {
		list = append(list, describe(active))
	}
	return list, nil
}

func (s *server) addFault(r *http.Request) (any, error) {
	var fault faults.Fault
	if err := decode(r, &fault); err != nil {
		return nil, err
	}
	active, err := s.running.Faults().Add(fault)
	if err != nil {
		return nil, invalid(err)
	}
	return describe(active), nil
}

// fault returns the fault that the path names.
func (s *server) fault(r *http.Request) (*faults.Active, error) {
	active, err := s.running.Faults().Get(r.PathValue("fault"))
	if err != nil {
		return nil, &statusError{http.StatusNotFound, err}
	}
	return active, nil
}

func (s *server) getFault(r *http.Request) (any, error) {
	active, err := s.fault(r)
	if err != nil {
		return nil, err
	}
	return describe(active), nil
}

func (s *server) removeFault(r *http.Request) (any, error) {
	active, err := s.fault(r)
	if err != nil {
		return nil, err
	}
	active.Remove()
	return nil, nil
}

func (s *server) removeFaults(*http.Request) (any, error) {
	s.running.Faults().RemoveAll()
	return nil, nil
}
