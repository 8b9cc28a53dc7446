package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// Errors about the server of a subcommand are one line that names a remedy.
func TestErrorsOfServerFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	dir := t.TempDir()
	empty, golden := filepath.Join(dir, "empty"), filepath.Join(dir, "golden.yaml")
	writeTestFile(t, empty, "")
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	const dead = "cannot reach the server http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused: check that it runs, or name another one with --server or --kubeconfig"
	for args, want := range map[string]string{
		"history cm/c --server 127.0.0.1:8080":                   `--server "127.0.0.1:8080" is not the URL of a server: use http://127.0.0.1:8080`,
		"blame cm/c --server localhost":                          `--server "localhost" is not the URL of a server: use http://localhost`,
		"dump out --server ftp://localhost":                      `--server "ftp://localhost" is not the URL of a server: use one such as http://127.0.0.1:8080`,
		"history cm/c --server http://127.0.0.1:1":               dead,
		"dump out --server http://127.0.0.1:1":                   dead,
		"diff cm/c@1 --server http://127.0.0.1:1":                dead,
		"top --server http://127.0.0.1:1":                        dead,
		"snapshot s --server http://127.0.0.1:1":                 dead,
		"restore s --server http://127.0.0.1:1":                  dead,
		"ui --server http://127.0.0.1:1":                         dead,
		"record out --server http://127.0.0.1:1 -- true":         dead,
		"replay " + golden + " --server localhost":               `--server "localhost" is not the URL of a server`,
		"history cm/c --server http://" + secure.URL[8:]:         "400 Bad Request: Client sent an HTTP request to an HTTPS server.",
		"history cm/c --server http://a --kubeconfig b":          "--server and --kubeconfig name two servers: remove one of them",
		"record out --server http://a --kubeconfig b -- true":    "--server and --kubeconfig name two servers: remove one of them",
		"history cm/c --etcd-prefix /x --server http://a":        "--etcd-prefix is for --from-snapshot: remove it, or set --from-snapshot",
		"dump out --encryption-provider-config x":                "--encryption-provider-config is for --from-snapshot: remove it, or set --from-snapshot",
		"history cm/c --kubeconfig " + empty:                     "--kubeconfig " + empty + " names no server",
		"history cm/c --kubeconfig /nowhere/file":                "--kubeconfig /nowhere/file: no such file or directory",
		"record out --server http://a --crds x -v 2 -- true":     "--crds is for a server that record starts: remove it, or --server and --kubeconfig",
		"record " + dir + " --server http://127.0.0.1:1 -- true": "cannot write the recording " + dir + ": it is a directory: name a file, such as golden.yaml",
		"record /nowhere/file -- true":                           "cannot write the recording /nowhere/file: no such file or directory",
	} {
		if strings.HasPrefix(args, "replay") {
			writeTestFile(t, golden, "recording: 1\n")
		}
		t.Run(args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			out, err := runMiniapi(t, strings.Fields(args)...)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") != strings.Contains(args, "--crds x -v") {
				t.Errorf("error %v, want %q\n%s", err, want, out)
			}
			if entries, _ := os.ReadDir("."); len(entries) > 0 {
				t.Errorf("the failed command has created %s", entries[0].Name())
			}
		})
	}
}

func writeTestFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// KUBECONFIG may list several files, of which some do not exist.
func TestKubeconfigOfEnvironment(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{TestAPIs: true})
	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	writeTestFile(t, file, string(kubeconfig))
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "missing")+string(filepath.ListSeparator)+file)
	if out, err := runMiniapi(t, "history", "ns/default"); err != nil || !strings.Contains(out, "Created") {
		t.Errorf("%v: %s", err, out)
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "missing"))
	if _, err := runMiniapi(t, "history", "ns/default"); err == nil || !strings.Contains(err.Error(), "KUBECONFIG names no server: set it to the kubeconfig of a server, or set --server") {
		t.Errorf("a missing file: %v", err)
	}
}
