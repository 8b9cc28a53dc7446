package main_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Each error is one line that names a remedy.
func TestErrors(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { busy.Close() }) // after the parallel subtests
	locked := filepath.Join(t.TempDir(), "data")
	serve(t, "--data-dir", locked)
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	empty := t.TempDir()
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	check(t, os.WriteFile(broken, []byte("a: b: c"), 0o600))

	for name, tc := range map[string]struct {
		args []string
		want string // part of the line
	}{
		"an unknown flag":              {[]string{"--nope"}, "unknown flag: --nope (see miniapi --help)"},
		"a misspelled flag":            {[]string{"--lisen", "x"}, `unknown flag: --lisen: did you mean --listen? (see miniapi --help)`},
		"a misspelled bootstrap mode":  {[]string{"--bootstrap", "minmal"}, `bootstrap "minmal" is neither "minimal" nor "full": did you mean "minimal"?`},
		"a misspelled mode of pods":    {[]string{"--pods", "instan"}, `(--pods): did you mean "instant"?`},
		"a misspelled controller":      {[]string{"--controllers", "*,-namespce"}, `(--controllers): did you mean "namespace"?`},
		"a misspelled plugin":          {[]string{"--enable-admission-plugins", "ServiceAcount"}, `plugin "ServiceAcount" is unknown: did you mean "ServiceAccount"?`},
		"a misspelled mode":            {[]string{"--authorization-mode", "RABC"}, `mode "RABC" is unknown: use AlwaysAllow, AlwaysDeny, RBAC, Node or Webhook: did you mean "RBAC"?`},
		"a value that is not a number": {[]string{"-v", "loud"}, `invalid argument "loud" for "-v, --v" flag`},
		"an unknown command":           {[]string{"begin"}, `unknown command "begin" (see miniapi --help)`},
		"a misspelled command":         {[]string{"asets"}, `unknown command "asets": did you mean "assets"? (see miniapi --help)`},
		"a busy port": {
			[]string{"--listen", busy.Addr().String()},
			"address already in use: stop the process that uses the port, or take a free one with --listen 127.0.0.1:0",
		},
		"a host that is not loopback": {[]string{"--listen", "0.0.0.0:0"}, "or set --allow-unauthenticated-network-access"},
		"an unreachable etcd": {
			[]string{"--etcd-servers", "http://127.0.0.1:1"},
			"did not answer within 5s: check that it runs, its address (--etcd-servers)",
		},
		"an etcd port that is not on loopback": {[]string{"--etcd-listen-client-url", "http://0.0.0.0:0"}, "must be a loopback address"},
		"a busy etcd port":                     {[]string{"--etcd-listen-client-url", "http://" + busy.Addr().String()}, "address already in use: stop the process that uses the port, or take a free one with --etcd-listen-client-url http://127.0.0.1:0"},
		"a busy secure port":                   {[]string{"--secure-port", portOf(busy.Addr().String())}, "or take a free one with --secure-port 0"},
		"a locked data directory":              {[]string{"--data-dir", locked}, "in use by another server: stop that one, or choose another directory (--data-dir)"},
		"a data directory that is a file": {
			[]string{"--data-dir", file}, "not a directory",
		},
		"a data directory below a file": {
			[]string{"--data-dir", filepath.Join(file, "data")}, "not a directory: choose a directory that this user can create and write (--data-dir)",
		},
		"a directory with other files": {
			[]string{"--data-dir", filepath.Dir(file)}, "not the data of an embedded etcd: it contains files, but no directory \"member\": choose a new or empty directory (--data-dir)",
		},
		"a kubeconfig in a missing directory": {
			[]string{"--write-kubeconfig", "/nowhere/kubeconfig"},
			"cannot write the kubeconfig /nowhere/kubeconfig: no such file or directory: choose another file with --write-kubeconfig FILE",
		},
		"a flag that requires --secure-port":          {[]string{"--client-ca-file", "ca.crt"}, "--client-ca-file requires --secure-port"},
		"an unknown authorization mode":               {[]string{"--authorization-mode", "Node,ABAC"}, `authorization mode "ABAC" is not supported: use RBAC, and grant rights by roles`},
		"missing CustomResourceDefinitions":           {[]string{"--crds", "/nowhere"}, "CustomResourceDefinitions (--crds): stat /nowhere: no such file or directory"},
		"a folder without CustomResourceDefinitions":  {[]string{"--crds", empty}, empty + " contains no CustomResourceDefinition: name a file, or the folder of the files, such as config/crd/bases (subfolders are not read)"},
		"a file without CustomResourceDefinitions":    {[]string{"--crds", file}, file + " contains no CustomResourceDefinition"},
		"CustomResourceDefinitions that are not YAML": {[]string{"--crds", broken}, broken + ": document 1 is not an object in YAML or JSON: "},
		"manifests that are not a folder":             {[]string{"--manifests", file}, "manifests (--manifests): " + file + " is not a folder of manifests"},
		"a missing snapshot": {
			[]string{"--from-snapshot", "/nowhere/backup.db"},
			"open /nowhere/backup.db: no such file or directory: name a file of etcdctl snapshot save, or the data directory of an etcd",
		},
		"a missing certificate": {
			[]string{"--etcd-servers", "https://127.0.0.1:1", "--etcd-cafile", "/nowhere/ca"},
			"TLS for --etcd-servers: open /nowhere/ca: no such file or directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := tc.args
			if args[0] != "--listen" {
				args = append([]string{"--listen", "127.0.0.1:0"}, args...)
			}
			lines := failingRun(t, args...)
			if len(lines) != 1 || !strings.HasPrefix(lines[0], "miniapi: ") || !strings.Contains(lines[0], tc.want) {
				t.Errorf("got %d lines, want one with %q:\n%s", len(lines), tc.want, strings.Join(lines, "\n"))
			}
		})
	}
}

func TestDamagedDataDirectory(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, dir string){
		"a truncated database": func(t *testing.T, dir string) {
			check(t, os.Truncate(filepath.Join(dir, "member", "snap", "db"), 100))
		},
		"an overwritten log": func(t *testing.T, dir string) {
			logs, err := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
			check(t, err)
			data, err := os.ReadFile(logs[0])
			check(t, err)
			copy(data[100:], strings.Repeat("?", 1000))
			check(t, os.WriteFile(logs[0], data, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			s := serve(t, "--data-dir", dir)
			check(t, s.stop(syscall.SIGINT))
			damage(t, dir)
			lines := failingRun(t, "--listen", "127.0.0.1:0", "--data-dir", dir)
			if len(lines) != 1 || !strings.Contains(lines[0], dir) || !strings.Contains(lines[0], "data is damaged") || !strings.Contains(lines[0], "restore a backup, or move the directory away to start with an empty one") {
				t.Errorf("got %d lines:\n%s", len(lines), strings.Join(lines, "\n"))
			}
		})
	}
}

func TestAllErrorsOfFlagsAreReported(t *testing.T) {
	lines := failingRun(t, "--listen", "nope", "--etcd-prefix", "/", "--service-cluster-ip-range", "1", "--bootstrap", "z",
		"--data-dir", "d", "--etcd-servers", "here", "--etcd-listen-client-url", "http://1.2.3.4:5", "--history", "1ms")
	want := []string{
		`listen address "nope"`, "--data-dir is for the embedded etcd", "--etcd-listen-client-url", `etcd prefix "/"`, `client URL "http://1.2.3.4:5"`,
		`etcd address "here"`, `IP range "1"`, `bootstrap "z"`, "--history 1ms",
	}
	if len(lines) != len(want) {
		t.Errorf("%d lines, want %d:\n%s", len(lines), len(want), strings.Join(lines, "\n"))
	}
	for _, text := range want {
		if !strings.Contains(strings.Join(lines, "\n"), text) {
			t.Errorf("no error with %s in\n%s", text, strings.Join(lines, "\n"))
		}
	}
}
