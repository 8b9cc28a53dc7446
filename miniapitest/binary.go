package miniapitest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	modulePath = "github.com/miniapi/miniapi/miniapitest"
	mainModule = "github.com/miniapi/miniapi"
)

// findBinary returns the path of the miniapi command.
func findBinary(progress func(format string, args ...any)) (string, error) {
	if path := os.Getenv("MINIAPI_BIN"); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("MINIAPI_BIN: %w", err)
		}
		return filepath.Abs(path)
	}
	if path, err := exec.LookPath("miniapi"); err == nil {
		return filepath.Abs(path)
	}
	return cachedBinary(version(), progress)
}

// errNoBinary says how to get a miniapi command.
func errNoBinary(reason string) error {
	return fmt.Errorf("no miniapi command (%s). Three ways to get one: "+
		"set MINIAPI_BIN to a binary; put miniapi into PATH, for example by go install %s/cmd/miniapi@latest; "+
		"or require a release of %s, which builds the command with go install when a test needs it", reason, mainModule, modulePath)
}

// version returns the version of this module, or "" if it is not in a module cache. The path of
// this file has the version, also with -trimpath. Test binaries have no build information about
// modules.
func version() string {
	_, file, _, _ := runtime.Caller(0)
	_, rest, _ := strings.Cut(file, modulePath+"@")
	version, _, _ := strings.Cut(rest, "/")
	return version
}

// cachedBinary returns the command of a version from the cache directory. It builds the command
// if it is not there.
func cachedBinary(version string, progress func(format string, args ...any)) (string, error) {
	if version == "" {
		return "", errNoBinary("this module is not a release, so the version to build is unknown")
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "bin", version)
	binary := filepath.Join(dir, "miniapi")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(dir, "lock"), progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(binary); err == nil { // another process has built it
		return binary, nil
	}
	return binary, build(dir, binary, version, progress)
}

// build builds the command in a temporary directory and moves it to its place.
func build(dir, binary, version string, progress func(format string, args ...any)) error {
	temp, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	target := mainModule + "/cmd/miniapi@" + version
	progress("building %s, once for this version; this takes some minutes", target)
	// Without symbols and debug information the program has two thirds of its size.
	command := exec.Command("go", "install", "-ldflags=-s -w", target)
	command.Dir = temp // outside of the user's module
	command.Env = append(os.Environ(), "GOBIN="+temp, "GOFLAGS=", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		return errNoBinary(fmt.Sprintf("go install %s: %v: %s", target, err, strings.TrimSpace(string(output))))
	}
	return os.Rename(filepath.Join(temp, filepath.Base(binary)), binary)
}

const (
	lockInterval = 200 * time.Millisecond // between attempts
	lockRefresh  = 2 * time.Second        // between signs of life of the process that has the lock
	lockStale    = 30 * time.Second       // after which a process without a sign of life was killed
)

// lock creates a lock file, and waits while another process has it. If a lock is stale, two
// processes may get it: then both build, and each moves a whole binary to the same place.
func lock(path string, progress func(format string, args ...any)) (unlock func(), err error) {
	for waited := false; ; waited = true {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return keepLock(path), file.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if !waited {
			progress("waiting for another process that builds miniapi (%s)", path)
		}
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > lockStale {
			_ = os.Remove(path)
		}
		time.Sleep(lockInterval)
	}
}

// keepLock updates the time of a lock file until unlock is called, which removes the file.
func keepLock(path string) (unlock func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // ends in unlock
		defer close(stopped)
		ticker := time.NewTicker(lockRefresh)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-ticker.C:
				_ = os.Chtimes(path, now, now)
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		_ = os.Remove(path)
	}
}
