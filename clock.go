package miniapi

import (
	"fmt"
	"time"

	"github.com/miniapi/miniapi/internal/apitime"
)

// newClock returns the time of the API. With a snapshot it is advanced as far as it was then.
func newClock(config Config) *apitime.Clock {
	clock := apitime.New(config.Clock)
	if config.Snapshot != nil {
		_ = clock.Advance(config.Snapshot.advanced) // never negative
	}
	return clock
}

// Now returns the time of the API: of the timestamps, expiries, deadlines and schedules of the
// server.
func (s *Server) Now() time.Time { return s.clock.Now() }

// Advance advances the time of the API. Events and tokens that are due by then expire, Jobs
// reach their deadline or their time to live, CronJobs start the latest Job that they have missed,
// and so on, if the controllers run. When Advance returns, Events have expired and the controllers
// have their work to do; Settle awaits the end of the work.
//
// New objects have the advanced time in their timestamps. Deadlines of requests, certificates,
// metrics and delays between retries follow the machine, and so do the clients.
func (s *Server) Advance(d time.Duration) error {
	if err := s.clock.Advance(d); err != nil {
		return fmt.Errorf("advance the time by %v: %w", d, err)
	}
	return nil
}
