package embedded_test

import (
	"errors"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/embedded"
)

// Reads of a server that closes end with an error, and so do later ones. etcd crashes when it reads
// its closed database.
func TestReadsDuringAndAfterClose(t *testing.T) {
	for range 10 {
		server := start(t, embedded.Config{})
		put(t, server.Client(), "a", "value")
		errs, closed := make([]error, 4), make(chan struct{})
		var readers sync.WaitGroup
		for i := range errs {
			readers.Go(func() {
				for open := true; open && errs[i] == nil; {
					select {
					case <-closed:
						open = false // the last read begins after Close
					default:
					}
					_, errs[i] = server.Client().Get(t.Context(), "a", clientv3.WithSerializable())
				}
			})
		}
		stop(t, server)
		close(closed)
		readers.Wait()
		for _, err := range errs {
			if !errors.Is(err, rpctypes.ErrStopped) {
				t.Errorf("got %v, want %v", err, rpctypes.ErrStopped)
			}
		}
	}
}
