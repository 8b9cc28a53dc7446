package main_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// unmasked returns a command that runs without a umask and creates all its files below root.
func unmasked(t *testing.T, root string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t)
	cmd.Path, cmd.Args = shell(t), append([]string{"sh", "-c", `umask 0; exec "$0" "$@"`, program}, args...)
	cmd.Env = append(cmd.Env, "HOME="+filepath.Join(root, "home"), "TMPDIR="+root)
	return cmd
}

// expectPrivate checks that only the owner can read the files and directories below root. The
// certificates are readable by all, but their directory is not. Symbolic links have no modes.
func expectPrivate(t *testing.T, root string, least int) {
	t.Helper()
	files := 0
	check(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root || entry.Type() == fs.ModeSymlink {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files++
		if public := filepath.Ext(path) == ".crt"; info.Mode().Perm()&0o077 != 0 && !public {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	}))
	if files < least {
		t.Errorf("found only %d files and directories", files)
	}
}

// Files with keys, tokens and data are readable by their owner only, whatever the umask is.
func TestFileModes(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]func(root string) []string{
		"in directories of the user": func(root string) []string {
			return []string{"--secure-port", "0", "--cert-dir", filepath.Join(root, "certs"), "--data-dir", filepath.Join(root, "data")}
		},
		"in temporary directories": func(root string) []string {
			return []string{"--secure-port", "0", "--write-kubeconfig", filepath.Join(root, "kubeconfig")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			s := serveCommand(t, unmasked(t, root, args(root)...))
			expectPrivate(t, root, 6)
			check(t, s.stop(syscall.SIGTERM))
		})
	}
}

// The directory of miniapi run has the kubeconfig of the administrator.
func TestFileModesOfRun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const list = `find "$TMPDIR" -mindepth 1 ! -type l -perm /077; ls "$KUBEBUILDER_ASSETS"`
	out, err := unmasked(t, root, "run", "--secure-port", "0", "--", "sh", "-c", list).Output()
	check(t, err)
	if strings.Contains(string(out), root) || !strings.Contains(string(out), "kubeconfig") {
		t.Errorf("readable by others, and the content of the directory:\n%s", out)
	}
}

// The socket of a host gives access to its servers, and the kubeconfig of a kept server too.
func TestFileModesOfHost(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "host") // the path of a socket has 108 bytes at most
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	socket := filepath.Join(root, "host", "socket")
	cmd := unmasked(t, root, "host", "--background", "--socket", socket)
	check(t, cmd.Run())
	pid, err := hostInfo(socket)
	check(t, err)
	process, err := os.FindProcess(pid)
	check(t, err)
	t.Cleanup(func() { _ = process.Kill() })
	var server struct{ ID string }
	hostPost(t, socket, "/v1/servers", &server)
	hostPost(t, socket, "/v1/servers/"+server.ID+"/keep", &struct{}{})
	expectPrivate(t, root, 6)
}

// hostPost sends an empty request to a host and decodes its answer.
func hostPost(t *testing.T, socket, path string, into any) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	response, err := client.Post("http://host"+path, "application/json", strings.NewReader("{}"))
	check(t, err)
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s: %s", path, response.Status)
	}
	check(t, json.NewDecoder(response.Body).Decode(into))
}

func shell(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sh")
	check(t, err)
	return path
}
