package registry_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
)

// brokenKV loses the response to the next transaction.
type brokenKV struct {
	clientv3.KV
	// commits makes etcd execute the transaction.
	commits bool
	// disconnects makes etcd unreachable as soon as the response is lost.
	disconnects bool
	lost        atomic.Bool // the response is lost
	reconnected atomic.Bool // etcd is reachable again
}

func breakKV(e *registrytest.Env, commits, disconnects bool) *brokenKV {
	kv := &brokenKV{KV: e.Client.KV, commits: commits, disconnects: disconnects}
	e.Client.KV = kv
	return kv
}

func (b *brokenKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	unavailable := status.Error(codes.Unavailable, "the connection is broken")
	if op.IsTxn() && b.lost.CompareAndSwap(false, true) {
		if b.commits {
			_, _ = b.KV.Do(ctx, op)
		}
		return clientv3.OpResponse{}, unavailable
	}
	if b.lost.Load() && b.disconnects && !b.reconnected.Load() {
		return clientv3.OpResponse{}, unavailable
	}
	return b.KV.Do(ctx, op)
}

func (b *brokenKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	resp, err := b.Do(ctx, clientv3.OpPut(key, value, opts...))
	return resp.Put(), err
}

// reportingHooks returns hooks whose transactions report their end.
func reportingHooks(reports chan<- string) registry.Hooks {
	report := func(text string) func(context.Context) error {
		return func(context.Context) error {
			reports <- text
			return nil
		}
	}
	tx := registry.Transaction{Commit: report("commit"), Rollback: report("rollback")}
	return registry.Hooks{
		BeginCreate: func(context.Context, *registry.Store, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			return tx, nil
		},
		BeginUpdate: func(context.Context, *registry.Store, runtime.Object, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			return tx, nil
		},
		BeginDelete: func(context.Context, *registry.Store, runtime.Object) registry.Transaction { return tx },
	}
}

// A transaction ends with the outcome of its write even if the response to the write is lost:
// within the request if etcd is reachable, or else as soon as etcd is reachable.
func TestTransactionsOfLostWrites(t *testing.T) {
	type write func(e *registrytest.Env) error
	create := func(e *registrytest.Env) error {
		_, err := e.Store("configmaps").Create(e.Context(), post(registrytest.NewConfigMap("new")))
		return err
	}
	update := func(e *registrytest.Env) error {
		_, err := e.Store("configmaps").Update(e.Context(), patch(registrytest.NewConfigMap("c"), increment("n")))
		return err
	}
	del := func(e *registrytest.Env) error {
		_, err := e.Store("configmaps").Delete(e.Context(), deleteRequest("c", nil))
		return err
	}
	for name, write := range map[string]write{"create": create, "update": update, "delete": del} {
		for _, c := range []struct {
			rule                 string
			commits, disconnects bool
			want                 string
			wantErr              func(error) bool
		}{
			{"executed", true, false, "commit", func(err error) bool { return err == nil }},
			{"not executed", false, false, "rollback", apierrors.IsServerTimeout},
			{"executed, then unreachable", true, true, "commit", apierrors.IsTimeout},
			{"not executed, then unreachable", false, true, "rollback", apierrors.IsTimeout},
		} {
			t.Run(name+" "+c.rule, func(t *testing.T) {
				reports := make(chan string, 10)
				e := registrytest.NewHooked(t, nil, "configmaps", reportingHooks(reports))
				e.Create("configmaps", registrytest.NewConfigMap("c"))
				<-reports
				kv := breakKV(e, c.commits, c.disconnects)
				if err := write(e); !c.wantErr(err) {
					t.Errorf("error %v", err)
				}
				if c.disconnects && len(reports) > 0 {
					t.Errorf("%s before the outcome is known", <-reports)
				}
				kv.reconnected.Store(true)
				if got := <-reports; got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		}
	}
}

func TestFailedCommitsAreRetried(t *testing.T) {
	calls := make(chan int, 10)
	n := 0
	e := registrytest.NewHooked(t, nil, "configmaps", registry.Hooks{
		BeginCreate: func(context.Context, *registry.Store, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			return registry.Transaction{Commit: func(context.Context) error {
				n++
				calls <- n
				switch n {
				case 1:
					return storage.ErrUnavailable
				case 2:
					return apierrors.NewInternalError(errors.New("etcd is unreachable"))
				}
				return nil
			}}, nil
		},
	})
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	for want := range 3 {
		if got := <-calls; got != want+1 {
			t.Errorf("call %d", got)
		}
	}
}

// A repeated step does not repeat a write that happened.
func TestOnce(t *testing.T) {
	for _, commits := range []bool{true, false} {
		e := registrytest.New(t, nil)
		e.Create("configmaps", registrytest.NewConfigMap("c"))
		kv, runs := breakKV(e, commits, true), 0
		step := registry.Once(func(ctx context.Context) error {
			runs++
			req := patch(registrytest.NewConfigMap("c"), increment("n"))
			req.Receipt = true
			_, err := e.Store("configmaps").Update(ctx, req)
			return err
		})
		if err := step(t.Context()); !errors.Is(err, storage.ErrUnknownOutcome) {
			t.Fatal(err)
		}
		kv.reconnected.Store(true)
		if err := step(t.Context()); err != nil {
			t.Error(err)
		}
		if want := map[bool]int{true: 1, false: 2}[commits]; runs != want {
			t.Errorf("the step ran %d times, want %d", runs, want)
		}
	}
}
