package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withEnv returns a command of miniapi with environment variables.
func withEnv(t *testing.T, variables []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	cmd.Env = append(cmd.Env, variables...)
	return cmd
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "miniapi.yaml")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// hasClass reports whether a server has the objects of the bootstrap mode full.
func hasClass(t *testing.T, url string) bool {
	t.Helper()
	response, err := http.Get(url + "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical")
	check(t, err)
	check(t, response.Body.Close())
	return response.StatusCode == http.StatusOK
}

func TestFlagSourcesAndTheirPrecedence(t *testing.T) {
	t.Parallel()
	file := configFile(t, "listen: 127.0.0.1:0\nbootstrap: full\n")
	for name, tc := range map[string]struct {
		variables, args []string
		full            bool
	}{
		"a variable":               {[]string{"MINIAPI_BOOTSTRAP=full"}, []string{"--listen=127.0.0.1:0"}, true},
		"a flag over a variable":   {[]string{"MINIAPI_BOOTSTRAP=full"}, []string{"--listen=127.0.0.1:0", "--bootstrap=minimal"}, false},
		"a file":                   {nil, []string{"--config", file}, true},
		"a file named by variable": {[]string{"MINIAPI_CONFIG=" + file}, nil, true},
		"a variable over a file":   {[]string{"MINIAPI_BOOTSTRAP=minimal"}, []string{"--config", file}, false},
		"a flag over a file":       {nil, []string{"--config", file, "--bootstrap=minimal"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveCommand(t, withEnv(t, tc.variables, tc.args...))
			if got := hasClass(t, s.url); got != tc.full {
				t.Errorf("bootstrap mode full: %v, want %v", got, tc.full)
			}
			check(t, s.stop(syscall.SIGTERM))
			if s.stderr.Len() > 0 {
				t.Errorf("messages on standard error:\n%s", s.stderr)
			}
		})
	}
}

// definition is a CustomResourceDefinition, whose plural and kind are left open.
const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %[1]s.example.com},
  spec: {group: example.com, scope: Namespaced, names: {plural: %[1]s, kind: %[2]s}, versions: [
    {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
`

// All kinds of values: text, numbers, booleans, durations, lists and comma-separated lists.
func TestConfigFileValues(t *testing.T) {
	t.Parallel()
	a, b := configFile(t, fmt.Sprintf(definition, "as", "A")), configFile(t, fmt.Sprintf(definition, "bs", "B"))
	file := configFile(t, `# a comment
listen: "127.0.0.1:0"
v: 3
allow-unauthenticated-network-access: true
etcd-compaction-interval: 1m
crds: [`+a+", "+b+`]
disable-admission-plugins:
- LimitRanger
- ResourceQuota
enable-admission-plugins: ServiceAccount,NamespaceExists
feature-gates: {AllAlpha: false, AllBeta: true}
`)
	s := serveCommand(t, withEnv(t, nil, "--config", file))
	for _, plural := range []string{"as", "bs"} {
		if list := get(t, s.url+"/apis/example.com/v1/"+plural); !strings.Contains(list, "List") {
			t.Errorf("crds: %s are not served: %s", plural, list)
		}
	}
	check(t, s.stop(syscall.SIGTERM))
	if !strings.Contains(s.stderr.String(), "msg=request") {
		t.Errorf("v: 3 has no effect:\n%s", s.stderr)
	}
}

func TestErrorsNameTheSourceOfAValue(t *testing.T) {
	t.Parallel()
	file := configFile(t, "v: loud\nlsiten: x\n\nlisten: [a, b]\nbootstrap:\nnothing: {}\n")
	valid := configFile(t, "# first\nlisten: nope\nauthorization-mode: ABAC\n")
	for name, tc := range map[string]struct {
		variables, args []string
		want            []string
	}{
		"a variable that is not a number": {[]string{"MINIAPI_V=loud"}, nil,
			[]string{`environment variable MINIAPI_V: invalid argument "loud" for "-v, --v" flag: strconv.ParseInt: parsing "loud": invalid syntax`}},
		"a variable that is rejected later": {[]string{"MINIAPI_BOOTSTRAP=z", "MINIAPI_DATA_DIR=d"}, nil,
			[]string{`bootstrap "z" is neither "minimal" nor "full" (--bootstrap is from environment variable MINIAPI_BOOTSTRAP)`}},
		"a file with errors": {nil, []string{"--config", file}, []string{
			file + `:5: "bootstrap" needs a value, such as text, a number or true`,
			file + `:4: "listen" has one value, not a list`,
			file + `:2: unknown key "lsiten": did you mean "listen"?`,
			file + `:6: unknown key "nothing"`,
			file + `:1: invalid argument "loud" for "-v, --v" flag: strconv.ParseInt: parsing "loud": invalid syntax`,
		}},
		"values of a file that are rejected later": {nil, []string{"--config", valid}, []string{
			`listen address "nope" is not HOST:PORT, such as 127.0.0.1:8080 (--listen is from ` + valid + `:2)`,
			`authorization mode "ABAC" is not supported: use RBAC, and grant rights by roles (--authorization-mode is from ` + valid + `:3)`,
		}},
		"a missing file": {[]string{"MINIAPI_CONFIG=/nowhere"}, nil,
			[]string{`--config: open /nowhere: no such file or directory (--config is from environment variable MINIAPI_CONFIG)`}},
		"a variable of host":   {[]string{"MINIAPI_HOST_IDLE_TIMEOUT=x"}, []string{"host"}, []string{`environment variable MINIAPI_HOST_IDLE_TIMEOUT: invalid argument "x"`}},
		"a variable of assets": {[]string{"MINIAPI_ASSETS_KUBECTL=/nowhere/kubectl"}, []string{"assets", t.TempDir()}, []string{"miniapi: assets: lstat /nowhere: no such file or directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			cmd := withEnv(t, tc.variables, tc.args...)
			cmd.Stderr = &stderr
			if err := cmd.Run(); err == nil {
				t.Fatal("no error")
			}
			got := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			if len(got) != len(tc.want) {
				t.Fatalf("got %d lines, want %d:\n%s", len(got), len(tc.want), stderr.String())
			}
			for i := range got {
				if !strings.Contains(got[i], tc.want[i]) {
					t.Errorf("line %d:\n%s\nwant\n%s", i+1, got[i], tc.want[i])
				}
			}
		})
	}
}

func TestMisspelledVariablesAreReported(t *testing.T) {
	t.Parallel()
	cmd := withEnv(t, []string{
		"MINIAPI_LISTNE=127.0.0.1:1", "MINIAPI_HOST_SOKET=s", "MINIAPI_BIN=/x", "MINIAPI_KEEP=1", "MINIAPI_KUBECONFIG=/x",
		"MINIAPI_PORT=tcp://10.0.0.1:8080", "MINIAPI_SERVICE_HOST=10.0.0.1", "MINIAPI_SERVICE_PORT=8080", "MINIAPI_PORT_8080_TCP_ADDR=10.0.0.1",
	}, "--listen", "127.0.0.1:0")
	s := serveCommand(t, cmd)
	check(t, s.stop(syscall.SIGTERM))
	want := "miniapi: ignored the environment variable MINIAPI_LISTNE: did you mean MINIAPI_LISTEN?\n" +
		"miniapi: ignored the environment variable MINIAPI_HOST_SOKET: did you mean MINIAPI_HOST_SOCKET?\n"
	if diff := cmp.Diff(want, s.stderr.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
