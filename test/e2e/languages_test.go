package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// requireEnv lists the languages, separated by commas, whose examples must be tested. Examples in
// other languages are skipped if their tools are missing.
const requireEnv = "MINIAPI_REQUIRE_LANGUAGES"

// language runs an example in another language in a temporary copy of its folder.
type language struct {
	t    *testing.T
	name string
	dir  string
	env  []string
}

// newLanguage copies a folder of examples. The example has the miniapi command in PATH and its own
// host.
func newLanguage(t *testing.T, name string) language {
	t.Helper()
	dir, cache := t.TempDir(), t.TempDir()
	check(t, os.CopyFS(dir, os.DirFS(filepath.Join("../../examples", name))))
	return language{t: t, name: name, dir: dir, env: append(os.Environ(), "XDG_CACHE_HOME="+cache, "MINIAPI_BIN="+filepath.Join(programsDir(t), "miniapi"),
		"PATH="+programsDir(t)+string(os.PathListSeparator)+os.Getenv("PATH"), "npm_config_cache="+cache)}
}

func (l language) run(program string, args ...string) (string, error) {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), program, args...)
	cmd.Dir, cmd.Env = l.dir, l.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// check runs the example and compares a part of its output.
func (l language) check(want, program string, args ...string) {
	l.t.Helper()
	if out, err := l.run(program, args...); err != nil || !strings.Contains(out, want) {
		l.t.Errorf("%v, want %q in the output:\n%s", err, want, out)
	}
}

// missing skips the test, or fails it if the language is required.
func (l language) missing(format string, args ...any) {
	l.t.Helper()
	if slices.Contains(strings.Split(os.Getenv(requireEnv), ","), l.name) {
		l.t.Fatalf("%s requires %s: "+format, append([]any{requireEnv, l.name}, args...)...)
	}
	l.t.Skipf(format, args...)
}

func TestPythonExample(t *testing.T) {
	l := newLanguage(t, "python")
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if _, err := l.run(python, "-c", "import kubernetes, unittest; unittest.TestCase.enterContext"); err == nil {
			l.check("Ran 2 tests", python, "-W", "error", "-m", "unittest")
			return
		}
	}
	l.missing("no Python 3.11 with the package kubernetes: apt-get install python3-kubernetes, or pip install kubernetes")
}

func TestJavaScriptExample(t *testing.T) {
	l := newLanguage(t, "javascript")
	if out, err := l.run("node", "-e", "if (parseInt(process.versions.node) < 20) process.exit(1)"); err != nil {
		l.missing("no Node.js 20 or newer: %v: %s", err, out)
	}
	if out, err := l.run("npm", "install", "--no-audit", "--no-fund"); err != nil {
		l.missing("npm cannot install the packages of examples/javascript/package.json: %v: %s", err, out)
	}
	l.check("# pass 2", "npm", "test")
}

func TestJavaExample(t *testing.T) {
	l := newLanguage(t, "java")
	if _, err := exec.LookPath("javac"); err != nil {
		l.missing("no JDK: apt-get install default-jdk-headless")
	}
	l.check("stored: blue", filepath.Join(programsDir(t), "miniapi"), "run", "--", "java", "Conflict.java")
}
