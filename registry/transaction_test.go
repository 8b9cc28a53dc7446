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

// brokenKV loses the answer to the next transaction.
type brokenKV struct {
	clientv3.KV
	// happens says that the transaction is carried out.
	happens bool
	// away makes etcd unreachable as soon as the answer is lost.
	away   bool
	broken atomic.Bool // the answer is lost
	back   atomic.Bool // etcd is reachable again
}

func breakKV(e *registrytest.Env, happens, away bool) *brokenKV {
	kv := &brokenKV{KV: e.Client.KV, happens: happens, away: away}
	e.Client.KV = kv
	return kv
}

func (b *brokenKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	lost := status.Error(codes.Unavailable, "the connection is broken")
	if op.IsTxn() && b.broken.CompareAndSwap(false, true) {
		if b.happens {
			_, _ = b.KV.Do(ctx, op)
		}
		return clientv3.OpResponse{}, lost
	}
	if b.broken.Load() && b.away && !b.back.Load() {
		return clientv3.OpResponse{}, lost
	}
	return b.KV.Do(ctx, op)
}

func (b *brokenKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	resp, err := b.Do(ctx, clientv3.OpPut(key, value, opts...))
	return resp.Put(), err
}

// ended returns hooks of which every transaction reports its end.
func ended(reports chan<- string) registry.Hooks {
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

// A transaction ends as its write does, though the answer to that is lost: within
// the request if etcd can be asked, or else as soon as it can.
func TestTransactionsOfLostWrites(t *testing.T) {
	type write func(e *registrytest.Env) error
	create := func(e *registrytest.Env) error {
		_, err := e.Store("configmaps").Create(e.Context(), post(registrytest.NewConfigMap("new")))
		return err
	}
	update := func(e *registrytest.Env) error {
		_, err := e.Store("configmaps").Update(e.Context(), patch(registrytest.NewConfigMap("c"), count("n")))
		return err
	}
	remove := func(e *registrytest.Env) error {
		_, err := e.Store("configmaps").Delete(e.Context(), remove("c", nil))
		return err
	}
	for name, write := range map[string]write{"create": create, "update": update, "delete": remove} {
		for _, c := range []struct {
			rule          string
			happens, away bool
			want          string
			answer        func(error) bool
		}{
			{"happened", true, false, "commit", func(err error) bool { return err == nil }},
			{"did not happen", false, false, "rollback", apierrors.IsServerTimeout},
			{"happened before etcd was gone", true, true, "commit", apierrors.IsTimeout},
			{"did not happen before etcd was gone", false, true, "rollback", apierrors.IsTimeout},
		} {
			t.Run(name+" "+c.rule, func(t *testing.T) {
				reports := make(chan string, 10)
				e := registrytest.NewHooked(t, nil, "configmaps", ended(reports))
				e.Create("configmaps", registrytest.NewConfigMap("c"))
				<-reports
				kv := breakKV(e, c.happens, c.away)
				if err := write(e); !c.answer(err) {
					t.Errorf("answer %v", err)
				}
				if c.away && len(reports) > 0 {
					t.Errorf("%s before the outcome is known", <-reports)
				}
				kv.back.Store(true)
				if got := <-reports; got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		}
	}
}

func TestTransactionsThatFailAreEndedLater(t *testing.T) {
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
					return apierrors.NewInternalError(errors.New("etcd is gone"))
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

// A step that is tried again does not repeat what has happened.
func TestOnce(t *testing.T) {
	for _, happens := range []bool{true, false} {
		e := registrytest.New(t, nil)
		e.Create("configmaps", registrytest.NewConfigMap("c"))
		kv, runs := breakKV(e, happens, true), 0
		step := registry.Once(func(ctx context.Context) error {
			runs++
			req := patch(registrytest.NewConfigMap("c"), count("n"))
			req.Receipt = true
			_, err := e.Store("configmaps").Update(ctx, req)
			return err
		})
		if err := step(t.Context()); !errors.Is(err, storage.ErrUnknownOutcome) {
			t.Fatal(err)
		}
		kv.back.Store(true)
		if err := step(t.Context()); err != nil {
			t.Error(err)
		}
		if want := map[bool]int{true: 1, false: 2}[happens]; runs != want {
			t.Errorf("the step ran %d times, want %d", runs, want)
		}
	}
}
