package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/storagetest/model"
	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// prefix is the prefix of all keys of servers, and marker a key outside of it.
const (
	prefix = "/registry/"
	marker = "/robustness"
)

// Observer reads the history of etcd, past the servers. Its methods may be called concurrently.
type Observer struct {
	client *clientv3.Client

	mu       sync.Mutex // guards the fields below
	changes  []model.Change
	revision int64 // up to which changes is complete
}

// NewObserver returns an observer of an etcd without objects. The caller must call Run.
func NewObserver(ctx context.Context, client *clientv3.Client) (*Observer, error) {
	revision, err := Revision(ctx, client)
	return &Observer{client: client, revision: revision}, err
}

// Revision returns the current revision of etcd.
func Revision(ctx context.Context, client *clientv3.Client) (int64, error) {
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		resp, err := client.Get(attempt, marker)
		cancel()
		if err == nil {
			return resp.Header.Revision, nil
		}
		if ctx.Err() != nil {
			return 0, fmt.Errorf("read the revision of etcd: %w", err)
		}
	}
}

// Run reads the history until ctx ends. It continues after failures of etcd.
func (o *Observer) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := o.follow(ctx); errors.Is(err, rpctypes.ErrCompacted) {
			return fmt.Errorf("observe etcd: %w", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (o *Observer) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for resp := range o.client.Watch(ctx, "/", clientv3.WithPrefix(), clientv3.WithRev(o.Observed()+1)) {
		if err := resp.Err(); err != nil {
			return err
		}
		if err := o.append(resp.Events); err != nil {
			return err
		}
	}
	return nil
}

func (o *Observer) append(events []*clientv3.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		change, ok, err := changeOf(e)
		if err != nil {
			return err
		}
		if ok && e.Kv.ModRevision > o.revision {
			o.changes = append(o.changes, change)
		}
	}
	if n := len(events); n > 0 {
		o.revision = events[n-1].Kv.ModRevision
	}
	return nil
}

// changeOf returns the change of an object of the traffic. Other keys are not ok.
func changeOf(e *clientv3.Event) (change model.Change, ok bool, err error) {
	change = model.Change{Revision: e.Kv.ModRevision, Key: keyOf(e.Kv), Deleted: e.Type == mvccpb.Event_DELETE}
	if change.Key == "" || change.Deleted {
		return change, change.Key != "", nil
	}
	o, err := traffic.Decode(e.Kv.Value, e.Kv.ModRevision)
	change.Object = o.Model()
	return change, true, err
}

// keyOf returns the key of an object in the model, "" for a key that is not of the traffic.
func keyOf(kv *mvccpb.KeyValue) string {
	parts := strings.Split(strings.TrimPrefix(string(kv.Key), prefix), "/")
	n := len(parts)
	if n < 3 || parts[n-2] != traffic.Namespace || parts[n-3] != traffic.Secrets && parts[n-3] != traffic.Widgets {
		return ""
	}
	return parts[n-3] + "/" + parts[n-1]
}

// Observed returns the revision up to which the history was read.
func (o *Observer) Observed() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.revision
}

// Complete waits until the history contains all writes before the call, and returns the history. It
// is an error if it differs from the current state.
func (o *Observer) Complete(ctx context.Context) ([]model.Change, error) {
	var marked int64
	err := traffic.Retry(ctx, func() error { // the leader of etcd may fail on a busy machine
		resp, err := o.client.Put(ctx, marker, "")
		if err == nil {
			marked = resp.Header.Revision
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("mark the end of the history: %w", err)
	}
	for o.Observed() < marked {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("observe etcd up to revision %d: %w", marked, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	o.mu.Lock()
	changes := slices.Clone(o.changes)
	o.mu.Unlock()
	return changes, o.compare(ctx, changes)
}

// compare compares the end of the history with the state of etcd.
func (o *Observer) compare(ctx context.Context, changes []model.Change) error {
	var resp *clientv3.GetResponse
	err := traffic.Retry(ctx, func() (err error) {
		resp, err = o.client.Get(ctx, prefix, clientv3.WithPrefix())
		return err
	})
	if err != nil {
		return err
	}
	want := map[string]int64{}
	for _, c := range changes {
		want[c.Key] = c.Revision
		if c.Deleted {
			delete(want, c.Key)
		}
	}
	for _, kv := range resp.Kvs {
		if key := keyOf(kv); key != "" && want[key] != kv.ModRevision {
			return fmt.Errorf("etcd has %s at revision %d, its history %d", key, kv.ModRevision, want[key])
		}
		delete(want, keyOf(kv))
	}
	if len(want) > 0 {
		return fmt.Errorf("etcd has lost %v", want)
	}
	return nil
}
