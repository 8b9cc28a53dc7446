package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/miniapi/miniapi/internal/filelock"
)

// ErrServed is returned by ListenUnix when another host serves the socket.
var ErrServed = errors.New("another host serves the socket")

// lockTimeout bounds the wait for a host that is ending.
const lockTimeout = time.Minute

// ListenUnix listens on a unix socket that only the current user can open. A socket of a host
// that was killed is replaced. The listener removes the socket when it is closed. The second
// result releases the socket's lock file after that.
func ListenUnix(ctx context.Context, path string) (net.Listener, func() error, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	lock, err := lockSocket(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	// The lock file is the proof that no host serves the socket.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, errors.Join(err, lock.Close())
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, nil, errors.Join(err, listener.Close(), lock.Close())
	}
	return listener, lock.Close, nil
}

// Serves reports whether the socket at path still exists.
func Serves(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// lockSocket locks the lock file of a socket. It waits for a host that is ending, which does not
// accept connections any more but still has the lock.
func lockSocket(ctx context.Context, path string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		lock, err := filelock.TryLockFile(path+".lock", os.O_RDWR|os.O_CREATE)
		if !errors.Is(err, filelock.ErrLocked) {
			return lock, err
		}
		if conn, err := net.Dial("unix", path); err == nil {
			return nil, errors.Join(fmt.Errorf("%w %s", ErrServed, path), conn.Close())
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the host of %s neither serves nor ends: %w", path, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
