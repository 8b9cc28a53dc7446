package embedded

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A start that fails does not remove the directory that it has created if another server has locked
// it since then.
func TestDirectoryLockedByAnotherServerIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	late := &dataDir{path: path}
	if err := late.create(); err != nil {
		t.Fatal(err)
	}
	other, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	member := filepath.Join(path, memberDir)
	if err := os.Mkdir(member, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := late.claim(nil); !errors.Is(err, ErrInUse) {
		t.Errorf("error %v", err)
	}
	if err := late.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(member); err != nil {
		t.Errorf("the data of the other server: %v", err)
	}
	if err := other.close(); err != nil {
		t.Error(err)
	}
}

// Files of a server that is starting, such as those of etcd that show whether the directory is
// writable, are not foreign.
func TestFilesOfAStartingServerAreNotForeign(t *testing.T) {
	path := t.TempDir()
	starting, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, ".touch"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	late, err := openDataDir(path)
	if !errors.Is(err, ErrInUse) {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(late.close(), starting.close()); err != nil {
		t.Error(err)
	}
	foreign, err := openDataDir(path)
	if !errors.Is(err, ErrForeign) {
		t.Errorf("without the server: %v", err)
	}
	if err := foreign.close(); err != nil {
		t.Error(err)
	}
}

// A directory that another server removes, because its start has failed, is created again.
func TestDirectoryRemovedMeanwhileIsCreatedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	failing, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	d := &dataDir{path: path}
	if err := d.create(); err != nil {
		t.Fatal(err)
	}
	if err := failing.close(); err != nil {
		t.Fatal(err)
	}
	if err := d.claim(nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := d.open(nil); err != nil {
		t.Fatal(err)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory remains: %v", err)
	}
}

// One of many servers that start at the same time gets a new directory.
func TestServersOfANewDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	servers := make(chan *Server, 8)
	var starting sync.WaitGroup
	for range cap(servers) {
		starting.Go(func() {
			server, err := Start(t.Context(), Config{DataDir: path, UnsafeNoFsync: true})
			switch {
			case err == nil:
				servers <- server
			case !errors.Is(err, ErrInUse):
				t.Error(err)
			}
		})
	}
	starting.Wait()
	if len(servers) != 1 {
		t.Fatalf("%d servers have started", len(servers))
	}
	stop := func(server *Server) {
		t.Helper()
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	server := <-servers
	if _, err := server.Client().Put(t.Context(), "/a", "1"); err != nil {
		t.Error(err)
	}
	stop(server)
	server, err := Start(t.Context(), Config{DataDir: path})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(server)
	if answer, err := server.Client().Get(t.Context(), "/a"); err != nil || answer.Count != 1 {
		t.Errorf("%v keys after a restart, %v", answer, err)
	}
}
