package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// FullDisk fills the file system of the data, and writes until etcd fails. The server must answer
// during the fault, and accept writes again without a restart.
type FullDisk struct {
	// Dir is a folder of the file system, outside of the data directory.
	Dir string
}

// Tolerated implements Fault.
func (FullDisk) Tolerated() bool { return false }

// Inject implements Fault.
func (f FullDisk) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	ballast := filepath.Join(f.Dir, "ballast")
	if err := fillFile(ballast); err != nil {
		return nil, err
	}
	if err := fill(ctx, s); err == nil {
		return nil, errors.New("etcd writes without space")
	}
	s.hold(ctx, 500*time.Millisecond)
	return func(ctx context.Context) error {
		if err := os.Remove(ballast); err != nil {
			return err
		}
		if server := s.Servers[0]; !server.Running() {
			return fmt.Errorf("the server has ended:\n%s", server.Output())
		}
		if err := empty(ctx, s); err != nil {
			return fmt.Errorf("%w; the disk has %s", err, files(f.Dir))
		}
		return nil
	}, nil
}

// files returns the files below a folder with their sizes in MiB.
func files(dir string) string {
	var list strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			fmt.Fprintf(&list, "%s (%d MiB) ", strings.TrimPrefix(path, dir), info.Size()>>20)
		}
		return nil // the file was removed meanwhile
	})
	return fmt.Sprint(list.String(), err)
}

// fillFile writes a file until its file system is full.
func fillFile(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	block := make([]byte, 1<<20)
	for size := 1 << 40; size > 0; size -= len(block) {
		if _, err := file.Write(block); err != nil {
			return nil //nolint:nilerr // the file system is full
		}
	}
	return fmt.Errorf("%s has more than 1 TiB of space", name)
}
