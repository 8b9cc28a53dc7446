package traffic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// Config describes traffic.
type Config struct {
	// URLs are the addresses of the servers.
	URLs []string
	// Seed decides about the operations of all clients.
	Seed uint64
	// ClientsPerServer is the number of clients at each server that read and write single objects.
	// Default: 3.
	ClientsPerServer int
	// Pause is the maximum time between two requests of a client. Default: 20 ms.
	Pause time.Duration
}

// Traffic is a set of running clients.
type Traffic struct {
	*Recorder
	Clients   []Clients // of each server
	Watchers  []*Watcher
	Informers []*Informer

	config  Config
	probes  []*client // of each server
	stop    context.CancelFunc
	writing sync.WaitGroup
	end     context.CancelFunc
	reading sync.WaitGroup
}

// Start prepares the first server and starts clients of all servers. The caller must call Close.
func Start(ctx context.Context, config Config) (*Traffic, error) {
	if config.ClientsPerServer == 0 {
		config.ClientsPerServer = 3
	}
	if config.Pause == 0 {
		config.Pause = 20 * time.Millisecond
	}
	t := &Traffic{Recorder: &Recorder{}, config: config}
	for _, url := range config.URLs {
		c, err := NewClients(url)
		if err != nil {
			return nil, err
		}
		t.Clients = append(t.Clients, c)
	}
	if err := t.Clients[0].Prepare(ctx); err != nil {
		return nil, err
	}
	writing, stop := context.WithCancel(ctx)
	reading, end := context.WithCancel(ctx)
	t.stop, t.end = stop, end
	for n, c := range t.Clients {
		if err := c.CreateDefinition(ctx); err != nil { // waits until this server has it
			t.Close()
			return nil, err
		}
		if err := t.startReaders(reading, n, c); err != nil {
			t.Close()
			return nil, err
		}
		t.startWriters(writing, n, c)
	}
	return t, nil
}

func (t *Traffic) startWriters(ctx context.Context, server int, c Clients) {
	for n := range t.config.ClientsPerServer {
		writer := t.newClient(1+server*t.config.ClientsPerServer+n, c)
		t.writing.Go(func() { writer.run(ctx) }) // ends with ctx
	}
	l := &lister{recorder: t.Recorder, resources: c.resources(), random: t.random(1000 + server), pause: t.config.Pause}
	t.writing.Go(func() { l.run(ctx) }) // ends with ctx
	t.probes = append(t.probes, t.newClient(-1-server, c))
}

func (t *Traffic) newClient(id int, c Clients) *client {
	return &client{
		id: id, recorder: t.Recorder, resources: c.resources(), random: t.random(id),
		pause: t.config.Pause, known: map[string]Object{},
	}
}

func (t *Traffic) random(id int) *rand.Rand {
	return rand.New(rand.NewPCG(t.config.Seed, uint64(int64(id))))
}

func (t *Traffic) startReaders(ctx context.Context, server int, c Clients) error {
	for _, r := range c.resources() {
		for _, s := range []model.Selection{{Scope: scope(r)}, {Scope: scope(r), Colour: colours[0]}, {Scope: key(r, names[0])}} {
			t.startWatcher(ctx, server, r, s, 0)
		}
		t.startWatcher(ctx, server, r, model.Selection{Scope: scope(r)}, 50*time.Millisecond)
	}
	informers, err := newInformers(fmt.Sprintf("at server %d", server+1), t.config.URLs[server], c)
	t.Informers = append(t.Informers, informers...)
	for _, i := range informers {
		t.reading.Go(func() { i.run(ctx) }) // ends with ctx
	}
	return err
}

func (t *Traffic) startWatcher(ctx context.Context, server int, r resource, s model.Selection, slow time.Duration) {
	w := &Watcher{
		name: fmt.Sprintf("at server %d", server+1), selection: s, resource: r, recorder: t.Recorder,
		random: t.random(2000 + len(t.Watchers)), slow: slow,
	}
	t.Watchers = append(t.Watchers, w)
	t.reading.Go(func() { w.run(ctx) }) // ends with ctx
}

// probe is the object that probes write.
const probe = "probe"

// Probe waits until a server acknowledges a write and answers a consistent read.
func (t *Traffic) Probe(ctx context.Context, server int) error {
	c := t.probes[server]
	r := c.resources[Secrets]
	return Retry(ctx, func() error {
		clear(c.known)
		if c.apply(ctx, r, probe); len(c.known) == 0 {
			return fmt.Errorf("server %d refuses writes", server+1)
		}
		clear(c.known)
		if c.get(ctx, r, probe); len(c.known) == 0 {
			return fmt.Errorf("server %d refuses reads", server+1)
		}
		return nil
	})
}

// StopWriting ends all clients except watches and informers, and returns when their last request
// was answered. Slow watches become fast, because they may be behind by any number of events.
func (t *Traffic) StopWriting() {
	t.stop()
	t.writing.Wait()
	for _, w := range t.Watchers {
		w.hurry.Store(true)
	}
}

// Close ends all clients.
func (t *Traffic) Close() {
	t.StopWriting()
	t.end()
	t.reading.Wait()
}
