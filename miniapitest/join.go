package miniapitest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// starting serializes the starts of hosts in this process. Those of several processes are
// serialized by the host.
var starting sync.Mutex

// joinHost returns the host of this user and of the miniapi command that is found. It starts the
// host if none runs. progress is called before steps that take long.
func joinHost(progress func(format string, args ...any)) (*host, error) {
	starting.Lock()
	defer starting.Unlock()
	binary, err := findBinary(progress)
	if err != nil {
		return nil, err
	}
	socket, err := socketOf(binary)
	if err != nil {
		return nil, err
	}
	if served(socket) {
		return newHost(socket), nil
	}
	command := exec.Command(binary, "host", "--background", "--socket", socket)
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s did not start a host: %w: %s", binary, err, strings.TrimSpace(string(output)))
	}
	// miniapi leaves a log file, also if the host is ending.
	if _, err := os.Stat(logFile(socket)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the miniapi command, it has started no host: set MINIAPI_BIN to a miniapi binary", binary)
	}
	return newHost(socket), nil
}

// served reports whether a host accepts connections.
func served(socket string) bool {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// socketOf returns the socket of the host of a binary. Another binary, for example of another
// release, has another host.
func socketOf(binary string) (string, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return "", err
	}
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	identity := sha256.Sum256([]byte(fmt.Sprint(binary, info.Size(), info.ModTime().UnixNano())))
	return filepath.Join(dir, "host-"+hex.EncodeToString(identity[:6])+".sock"), nil
}

// logFile returns the log file of the host of a socket.
func logFile(socket string) string { return strings.TrimSuffix(socket, ".sock") + ".log" }

// cacheDir returns the directory of sockets and binaries, which only the user can open.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the host: %w", err)
	}
	dir := filepath.Join(cache, "miniapi")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("no directory for the host: %w", err)
	}
	return dir, nil
}
