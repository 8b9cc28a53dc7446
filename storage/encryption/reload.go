package encryption

import (
	"context"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// minGrace is the minimum time for the KMS plugins of a new configuration to become healthy.
const minGrace = 10 * time.Second

// Run probes the KMS plugins and reloads the file until ctx ends, which is no error.
func (e *Encryption) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	stop := e.startProbes(ctx, group, e.current.Load())
	group.Go(func() error {
		e.eachReload(ctx, func(next *providers) {
			stop()
			old := e.current.Swap(next)
			e.announce()
			stop = e.startProbes(ctx, group, next)
			group.Go(func() error { return old.closeLater(ctx) })
		})
		return nil
	})
	err := group.Wait()
	stop()
	return err
}

// startProbes probes the KMS plugins in goroutines of group, until the caller calls stop or ctx
// ends.
func (e *Encryption) startProbes(ctx context.Context, group *errgroup.Group, p *providers) (stop context.CancelFunc) {
	ctx, stop = context.WithCancel(ctx)
	for _, provider := range p.kms {
		group.Go(func() error {
			provider.probe(ctx, e.config.Logger, e.announce)
			return nil
		})
	}
	return stop
}

// closeLater closes the connections when the requests in progress have ended.
func (p *providers) closeLater(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(p.grace()):
	}
	return p.close()
}

// grace is the time after which requests to the KMS plugins have ended, as in kube-apiserver.
func (p *providers) grace() time.Duration {
	var sum time.Duration
	for _, provider := range p.kms {
		sum += provider.timeout
	}
	return 2 * sum
}

// eachReload calls swap with the providers of each new content of the file until ctx ends. If the
// content cannot be used, the present providers stay and the next tick tries again.
func (e *Encryption) eachReload(ctx context.Context, swap func(*providers)) {
	if !e.config.AutomaticReload {
		return
	}
	tick := time.NewTicker(e.config.ReloadInterval)
	defer tick.Stop()
	logged := "" // the last error
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		next, err := e.reload(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil:
			e.metrics.reloads.Failed()
			if err.Error() != logged {
				logged = err.Error()
				e.config.Logger.ErrorContext(ctx, "the encryption configuration was not reloaded, the previous one stays in effect", "error", err)
			}
		case next != nil:
			logged = ""
			swap(next)
			e.metrics.reloads.Succeeded(next.hash)
			e.config.Logger.InfoContext(ctx, "the encryption configuration was reloaded", "file", e.config.File, "hash", next.hash)
		}
	}
}

// reload returns the providers of the file, whose KMS plugins are healthy, and nil if the content
// of the file has not changed.
func (e *Encryption) reload(ctx context.Context) (*providers, error) {
	data, err := os.ReadFile(e.config.File)
	if err == nil && hashOf(data) == e.current.Load().hash {
		return nil, nil
	}
	f, err := loadFile(e.config.File, true) // it also returns the error of the read
	if err != nil {
		return nil, err
	}
	next, err := newProviders(f, e.metrics)
	if err != nil {
		return nil, err
	}
	if err := next.awaitHealthy(ctx); err != nil {
		_ = next.close() // nothing was written with it
		return nil, err
	}
	return next, nil
}

// awaitHealthy waits until all KMS plugins are healthy. It returns the error of one that is not.
func (p *providers) awaitHealthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(minGrace, p.grace()))
	defer cancel()
	for _, provider := range p.kms {
		for {
			err := provider.refresh(ctx)
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return err
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}
