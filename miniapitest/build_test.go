package miniapitest_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miniapi/miniapi/miniapitest"
)

const releasedModule = "github.com/miniapi/miniapi"

// release is a module proxy that has one release of the module with the command.
type release struct {
	url   string
	start context.CancelFunc // the proxy answers after the call
}

// newRelease returns a proxy with a release whose command runs the command of this repository.
func newRelease(t *testing.T, version string) *release {
	t.Helper()
	source := fmt.Sprintf("package main\n\nimport (\n\t\"os\"\n\t\"os/exec\"\n)\n\nfunc main() {\n\tout, _ := exec.Command(%q, os.Args[1:]...).Output()\n\tos.Stdout.Write(out)\n}\n", os.Getenv("MINIAPI_BIN"))
	module := "module " + releasedModule + "\n\ngo 1.21\n"
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	for name, text := range map[string]string{"go.mod": module, "cmd/miniapi/main.go": source} {
		file, err := writer.Create(releasedModule + "@" + version + "/" + name)
		check(t, err)
		_, err = io.WriteString(file, text)
		check(t, err)
	}
	check(t, writer.Close())
	started, start := context.WithCancel(context.Background())
	answers := map[string]string{
		"list": version, version + ".info": fmt.Sprintf(`{"Version": %q}`, version), version + ".mod": module, version + ".zip": archive.String(),
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		<-started.Done()
		answer, ok := answers[strings.TrimPrefix(request.URL.Path, "/"+releasedModule+"/@v/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(start) // also if the test fails
	return &release{url: proxy.URL, start: start}
}

// use lets the go command of this process and its children take modules from the release only, and
// the miniapi command from the user's cache directory, which is empty.
func (r *release) use(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"GOPROXY": r.url, "GOSUMDB": "off", "GOMODCACHE": t.TempDir(), "GOTOOLCHAIN": "local",
		"GOCACHE": goEnv(t, "GOCACHE"), "XDG_CACHE_HOME": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() { check(t, exec.Command("go", "clean", "-modcache").Run()) }) // its files are read-only
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	value, err := exec.Command("go", "env", name).Output()
	check(t, err)
	return strings.TrimSpace(string(value))
}

// buildingVersion is set in a process that prints the progress and the path of the binary.
const buildingVersion = "MINIAPITEST_BUILDING_VERSION"

// builder is a process that needs the binary.
type builder struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startBuilder(t *testing.T, version string) builder {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), buildingVersion+"="+version)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return builder{t, cmd, bufio.NewScanner(stdout)}
}

// expect reads lines up to one with a text and returns it.
func (b builder) expect(text string) string {
	b.t.Helper()
	for b.lines.Scan() {
		if strings.Contains(b.lines.Text(), text) {
			return b.lines.Text()
		}
	}
	b.t.Fatalf("no line %q", text)
	return ""
}

// printBinary is the main function of a builder. It returns the exit code.
func printBinary(version string) int {
	binary, err := miniapitest.CachedBinary(version, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	if err != nil {
		return fail(err)
	}
	fmt.Println("binary " + binary)
	return 0
}

// TestBinaryIsBuiltOnce needs the binary of a release in two processes at the same time, and again
// later.
func TestBinaryIsBuiltOnce(t *testing.T) {
	release := newRelease(t, "v0.1.0")
	release.use(t)
	first := startBuilder(t, "v0.1.0")
	first.expect("building github.com/miniapi/miniapi/cmd/miniapi@v0.1.0, once for this version; this takes some minutes")
	second := startBuilder(t, "v0.1.0")
	second.expect("waiting for another process that builds miniapi")
	release.start()
	binary := strings.TrimPrefix(first.expect("binary "), "binary ")
	if got := second.expect("b"); got != "binary "+binary { // not "building"
		t.Errorf("after the build: %s", got)
	}
	check(t, first.cmd.Wait())
	check(t, second.cmd.Wait())
	if out, err := exec.Command(binary, "--version").Output(); err != nil || !strings.HasPrefix(string(out), "miniapi version ") {
		t.Errorf("%v: %s", err, out)
	}
	again, err := miniapitest.CachedBinary("v0.1.0", t.Errorf)
	if err != nil || again != binary {
		t.Errorf("%v: %s", err, again)
	}
}

// A process that was killed does not keep the lock.
func TestStaleLock(t *testing.T) {
	release := newRelease(t, "v0.1.0")
	release.start()
	release.use(t)
	dir := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "miniapi", "bin", "v0.1.0")
	check(t, os.MkdirAll(dir, 0o700))
	check(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
	longAgo := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(filepath.Join(dir, "lock"), longAgo, longAgo))
	_, err := miniapitest.CachedBinary("v0.1.0", t.Logf)
	check(t, err)
}

// Without a way to build the command, the error names the ways to get it.
func TestBuildErrors(t *testing.T) {
	release := newRelease(t, "v0.1.0")
	release.start()
	release.use(t)
	const ways = "Three ways to get one: set MINIAPI_BIN to a binary; put miniapi into PATH"
	if _, err := miniapitest.CachedBinary("v0.2.0", t.Logf); err == nil || !strings.Contains(err.Error(), "404 Not Found") || !strings.Contains(err.Error(), ways) {
		t.Errorf("a version that does not exist: %v", err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if _, err := miniapitest.CachedBinary("v0.1.0", t.Logf); err == nil || !strings.Contains(err.Error(), `"go": executable file not found`) || !strings.Contains(err.Error(), ways) {
		t.Errorf("without go: %v", err)
	}
	check(t, os.Setenv("PATH", path)) // for the cleanup of the release
}
