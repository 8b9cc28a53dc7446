package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/embedded"
)

// A server whose disk is full rejects writes but keeps running. Once the disk has space it
// continues with all acknowledged writes. The disk is a small tmpfs of a child process.
func TestFullDisk(t *testing.T) {
	command := child(t, "fill the disk", t.TempDir())
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	output, err := command.Output()
	if isForbidden(err) || strings.HasPrefix(string(output), mountForbidden) {
		t.Skipf("a small file system needs a user namespace, which this system forbids: %v %s", err, output)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const want = `rejected: the disk of the server is full: free some space on it; writes then succeed without a restart
read: not sent: etcd is restarted when its disk has room
the revision is that of the last write
written again
nothing is lost
closed: <nil>
opened again
nothing is lost
closed: <nil>
`
	if string(output) != want {
		t.Errorf("want\n%s\ngot\n%s", want, output)
	}
}

// mountForbidden begins the output of fillDisk if it may not mount.
const mountForbidden = "mount forbidden"

// isForbidden reports whether the system, a container or a security module refuses user namespaces.
func isForbidden(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSPC, syscall.ENOSYS}, func(refusal syscall.Errno) bool {
		return errors.Is(err, refusal)
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func fillDisk(dir string) {
	ctx := context.Background()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=96m"); isForbidden(err) {
		fmt.Println(mountForbidden, err)
		return
	} else if err != nil {
		panic(err)
	}
	config := embedded.Config{
		DataDir: filepath.Join(dir, "data"), ListenClientURLs: []string{"http://127.0.0.1:0"},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	server := must(embedded.Start(ctx, config))
	acknowledged, revision := 0, int64(0)
	write := func() error {
		resp, err := server.Client().Put(ctx, key(acknowledged), strings.Repeat("x", 512<<10))
		if err == nil {
			acknowledged, revision = acknowledged+1, resp.Header.Revision
		}
		return err
	}
	for range 3 {
		if err := write(); err != nil {
			panic(err)
		}
	}
	ballast := filepath.Join(dir, "ballast")
	fill := must(os.Create(ballast))
	for _, err := fill.Write(make([]byte, 1<<16)); err == nil; {
		_, err = fill.Write(make([]byte, 1<<16))
	}
	var rejection error
	for rejection = write(); !errors.Is(rejection, rpctypes.ErrNoSpace); rejection = write() {
		if server.Err() != nil {
			panic(server.Err())
		}
	}
	fmt.Println("rejected:", rejection)
	_, err := server.Client().Get(ctx, key(0))
	fmt.Println("read:", rpctypes.ErrorDesc(err))
	if must(server.Rev(ctx)) >= revision && server.SpaceProblem(ctx) != nil && server.Err() == nil {
		fmt.Println("the revision is that of the last write")
	}
	if err := errors.Join(fill.Close(), os.Remove(ballast)); err != nil {
		panic(err)
	}
	if _, _, err := server.Store(ctx); err != nil { // waits for the restart
		panic(errors.Join(err, server.Err()))
	}
	if err := write(); err != nil {
		panic(err)
	}
	fmt.Println("written again")
	checkAll(server.Client(), acknowledged)
	fmt.Println("closed:", server.Close(ctx))
	server = must(embedded.Start(ctx, config))
	fmt.Println("opened again")
	checkAll(server.Client(), acknowledged)
	fmt.Println("closed:", server.Close(ctx))
}

func checkAll(client *clientv3.Client, acknowledged int) {
	for i := range acknowledged {
		if resp := must(client.Get(context.Background(), key(i))); len(resp.Kvs) != 1 || len(resp.Kvs[0].Value) != 512<<10 {
			fmt.Println("lost:", key(i))
			return
		}
	}
	fmt.Println("nothing is lost")
}
