package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// readyTimeout is the time within which a process must become ready, also on a busy machine.
const readyTimeout = 5 * time.Minute

// Server is a process of miniapi with a fixed address.
type Server struct {
	*Process
	URL string
	// links are the connections to the etcd members, nil for an embedded etcd.
	links []*Link
	// clock is the address that advances the clock, "" for none.
	clock string
	// slowDisk is the file with the delay of syncs.
	slowDisk string
}

// Advance advances the clock of a ClockServer until its end.
func (s *Server) Advance(ctx context.Context, by time.Duration) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.clock+"/?by="+by.String(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("advance the clock by %v: %s", by, resp.Status)
	}
	return nil
}

// Restart starts the server after its end and waits until it is ready.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Start(); err != nil {
		return err
	}
	return s.AwaitReady(ctx)
}

// AwaitReady waits until the server is ready. It fails if the process ends.
func (s *Server) AwaitReady(ctx context.Context) error {
	return s.await(ctx, s.URL+"/readyz")
}

// OpenWatches returns the watches that the server serves, for the report of a violation.
func (s *Server) OpenWatches(ctx context.Context) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/apis/miniapi.dev/v1alpha1/watches", nil)
	if err != nil {
		return err.Error()
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprint(string(body), err)
}

// CutFromEtcd blocks the connections of the server to all members. The returned function restores
// them.
func (s *Server) CutFromEtcd() (restore func()) {
	for _, link := range s.links {
		link.Block(everything)
	}
	return func() {
		for _, link := range s.links {
			link.Restore()
		}
	}
}

// await waits until a URL answers 200. It fails if the process ends.
func (p *Process) await(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		if respondsOK(ctx, url) {
			return nil
		}
		select {
		case <-p.Done():
			return fmt.Errorf("%s has ended before it was ready:\n%s", p.Name, p.Output())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", p.Name, ctx.Err(), p.Output())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func respondsOK(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
