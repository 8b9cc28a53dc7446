package oidc_test

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/miniapi/miniapi/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// await fails the test unless the condition becomes true.
func await(t *testing.T, condition func() bool) {
	t.Helper()
	timeout := time.After(time.Minute)
	for !condition() {
		select {
		case <-timeout:
			t.Fatal("the condition did not become true")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// lockedBuffer is a buffer for concurrent use.
type lockedBuffer struct {
	mu     sync.Mutex // guards buffer
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
