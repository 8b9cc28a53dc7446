package miniapitest

import (
	"context"
	"net/http"
	"time"
)

// Advance advances the time of the API: of timestamps, expiries, deadlines and schedules. Events
// and tokens that are due by then expire, Jobs reach their deadline or their time to live, CronJobs
// start the latest Job that they have missed, and so on, if the controllers run. When Advance
// returns, Events have expired and the controllers have their work to do; Settle awaits the end of
// the work.
//
// New objects have the advanced time in their timestamps. Deadlines of requests, certificates and
// delays between retries follow the machine, and so do the clients.
func (s *Server) Advance(ctx context.Context, by time.Duration) error {
	return s.call(ctx, http.MethodPost, "/advance", advanceOptions{By: by.String()}, nil)
}

type advanceOptions struct {
	By string `json:"by"`
}
