package recording

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"
	"time"
)

// openWatch is a watch of a replay.
type openWatch struct {
	until  int // see Exchange.OpenUntil
	done   chan struct{}
	cancel context.CancelFunc
}

// watch reads as many events as were recorded. Its goroutine ends with the events, the stream, or
// cancel.
func (p *player) watch(stream io.ReadCloser, cancel context.CancelFunc, want, got *Exchange) {
	w := &openWatch{until: want.OpenUntil, done: make(chan struct{}), cancel: cancel}
	p.watches = append(p.watches, w)
	go func() { // ends with play, which cancels the context and waits
		defer close(w.done)
		defer cancel()
		defer stream.Close()
		renderer := p.renderer(want)
		lines := bufio.NewReader(stream)
		for len(got.Events) < len(want.Events) {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			event, err := decodeEvent(line)
			if err != nil || event == nil {
				continue
			}
			p.event(renderer, want.Events[len(got.Events)], event, got)
		}
	}()
}

func (p *player) event(r *renderer, want, event any, got *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names.align(want, event)
	if fields, ok := event.(map[string]any); ok {
		p.remember(fields["object"])
	}
	got.Events = append(got.Events, r.value("", event))
}

// endWatches ends the watches that ended before the exchange at a position, 0: all watches. They
// share the time in which they have to send their events.
func (p *player) endWatches(position int) {
	limit := time.NewTimer(p.config.Timeout)
	defer limit.Stop()
	open := p.watches[:0:0]
	for _, w := range p.watches {
		if position > 0 && (w.until == 0 || w.until > position) {
			open = append(open, w)
			continue
		}
		select {
		case <-w.done:
		case <-limit.C:
			limit.Reset(0) // for the next watch
			w.cancel()
			<-w.done
		}
	}
	p.watches = open
}

// awaitNames waits until an event of a watch has shown the values that a request repeats, as long
// as a watch is open and not longer than the time limit. It does not wait twice for a name.
func (p *player) awaitNames(ctx context.Context, want *Exchange) {
	body, err := marshal(want.Body)
	if err != nil {
		return
	}
	names := name.FindAllString(want.Request+want.Headers["Authorization"]+body, -1)
	names = slices.DeleteFunc(names, func(name string) bool { return p.absent[name] || strings.HasPrefix(name, "<"+string(secret)) })
	ctx, cancel := context.WithTimeout(ctx, p.config.Timeout)
	defer cancel()
	for {
		missing, added := p.names.missing(names)
		ended := p.endOfOpenWatch()
		if len(missing) == 0 || ended == nil {
			return
		}
		select {
		case <-added:
		case <-ended:
		case <-ctx.Done():
			for _, name := range missing {
				p.absent[name] = true
			}
			return
		}
	}
}

// endOfOpenWatch returns the channel that is closed at the end of a watch, nil if no watch is open.
func (p *player) endOfOpenWatch() <-chan struct{} {
	for _, w := range p.watches {
		select {
		case <-w.done:
		default:
			return w.done
		}
	}
	return nil
}
