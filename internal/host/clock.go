package host

import (
	"net/http"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/miniapi/miniapi"
)

// AdvanceOptions is the body of POST /v1/servers/{id}/advance.
type AdvanceOptions struct {
	// By is a duration such as 1h30m.
	By string `json:"by"`
}

// Time is the answer of POST /v1/servers/{id}/advance.
type Time struct {
	// Now is the time of the API of the server.
	Now time.Time `json:"now"`
}

// advance advances the time of the API of the server.
func (s *server) advance(r *http.Request) (any, error) {
	var options AdvanceOptions
	if err := decode(r, &options); err != nil {
		return nil, err
	}
	by, err := duration("by", options.By, 0)
	if err != nil {
		return nil, err
	}
	if err := s.running.Advance(by); err != nil {
		return nil, err
	}
	return Time{Now: s.running.Now()}, nil
}

// setClock stops the time of the API at a time. Without a time it follows the machine.
func setClock(config *miniapi.Config, frozenAt *time.Time) {
	if frozenAt != nil {
		config.Clock = clocktesting.NewFakeClock(*frozenAt)
	}
}
