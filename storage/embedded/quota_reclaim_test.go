package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// afterDefragmentation is a handler of logs that calls a function after each defragmentation.
type afterDefragmentation struct{ call func() }

func (*afterDefragmentation) Enabled(context.Context, slog.Level) bool { return true }

func (h *afterDefragmentation) Handle(_ context.Context, record slog.Record) error {
	if strings.HasPrefix(record.Message, "defragmented") {
		h.call()
	}
	return nil
}

func (h *afterDefragmentation) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h *afterDefragmentation) WithGroup(string) slog.Handler      { return h }

// A write that waits for space succeeds although other writers are faster: they use no space
// between its reclaim and the check of the result.
func TestReclaimedSpaceIsNotTakenByOtherWrites(t *testing.T) {
	const size = 900 << 10
	handler := &afterDefragmentation{}
	server, err := Start(t.Context(), Config{QuotaBytes: 16 << 20, Logger: slog.New(handler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	space, kv := server.instance.space, server.instance.client.KV.(admittedKV).KV
	value := string(make([]byte, size))
	handler.call = func() { // another writer
		for i := 0; i < 20 && space.reserve(size); i++ {
			resp, err := kv.Do(t.Context(), clientv3.OpPut("/other", value))
			if err != nil {
				t.Error(err)
			}
			space.release(size, revisionOf(resp))
		}
	}
	for i := range 20 { // more than the quota
		if _, err := server.Client().Put(t.Context(), "/a", fmt.Sprint(i)+value); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
	}
}
