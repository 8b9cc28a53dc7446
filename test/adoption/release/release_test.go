// Package release_test uses a release of this repository as a project does that has no miniapi
// command: the first test builds it. The release is the commit HEAD, served by a module proxy in
// the file system.
package release_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	repository = "../../.."
	mainModule = "github.com/miniapi/miniapi"
)

const projectTest = `package project_test

import (
	"net/http"
	"testing"

	"github.com/miniapi/miniapi/miniapitest"
)

func TestServer(t *testing.T) {
	response, err := http.Get(miniapitest.Start(t, miniapitest.Options{}).URL() + "/readyz")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	response.Body.Close()
}
`

func TestReleaseBuildsItsCommandOnce(t *testing.T) {
	proxy, clone := t.TempDir(), t.TempDir()
	git(t, "clone", "-q", "--shared", repository, clone)
	// The go command keeps an index of each version that it has seen, so another commit needs
	// another version. It is never released.
	version := "v0.0.1-adoption.g" + git(t, "-C", clone, "rev-parse", "--short=12", "HEAD")
	for path, folder := range map[string]string{mainModule: "", mainModule + "/miniapitest": "miniapitest"} {
		publish(t, proxy, clone, module.Version{Path: path, Version: version}, folder)
	}
	env := goEnv(t)
	for name, value := range map[string]string{
		"GOPROXY":   "file://" + filepath.ToSlash(proxy) + "," + env["GOPROXY"],
		"GONOSUMDB": mainModule + "," + mainModule + "/*", "GOFLAGS": "-modcacherw",
		"GOCACHE": env["GOCACHE"], "GOMODCACHE": env["GOMODCACHE"],
		"PATH": filepath.Join(env["GOROOT"], "bin"), "MINIAPI_BIN": "", "XDG_CACHE_HOME": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() { removeFromCache(t, env["GOMODCACHE"], version) })
	tests := buildProject(t, version)

	const building, waiting = "once for this version", "waiting for another process"
	outputs := runTogether(t, tests, tests)
	all := strings.Join(outputs, "\n")
	if strings.Count(all, building) != 1 || strings.Count(all, waiting) != 1 {
		t.Errorf("two test binaries at once:\n%s", all)
	}
	if later := runTogether(t, tests)[0]; strings.Contains(later, building) || strings.Contains(later, waiting) {
		t.Errorf("later:\n%s", later)
	}
}

// publish writes the files of a module proxy for a module in a folder of a clone.
func publish(t *testing.T, proxy, clone string, release module.Version, folder string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(release.Path), "@v")
	check(t, os.MkdirAll(dir, 0o700))
	mod, err := os.ReadFile(filepath.Join(clone, folder, "go.mod"))
	check(t, err)
	var archive bytes.Buffer
	check(t, zip.CreateFromVCS(&archive, release, clone, "HEAD", folder))
	for name, data := range map[string][]byte{
		"list": []byte(release.Version + "\n"), release.Version + ".info": []byte(`{"Version": "` + release.Version + `"}`),
		release.Version + ".mod": mod, release.Version + ".zip": archive.Bytes(),
	} {
		check(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
}

// buildProject returns the test binary of a project that requires the release.
func buildProject(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/project\n\ngo 1.21\n\nrequire "+mainModule+"/miniapitest "+version+"\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "project_test.go"), []byte(projectTest), 0o600))
	binary := filepath.Join(dir, "project.test")
	for _, args := range [][]string{{"mod", "tidy"}, {"test", "-c", "-o", binary, "."}} {
		if out, err := exec.Command("go", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v: %s", args, err, out)
		}
	}
	return binary
}

// runTogether runs test binaries at the same time and returns their outputs.
func runTogether(t *testing.T, binaries ...string) []string {
	t.Helper()
	outputs := make([]string, len(binaries))
	var running sync.WaitGroup
	for i, binary := range binaries {
		running.Go(func() {
			out, err := exec.Command(binary, "-test.v").CombinedOutput()
			outputs[i] = string(out)
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	running.Wait()
	return outputs
}

// removeFromCache removes the release from the module cache.
func removeFromCache(t *testing.T, cache, version string) {
	t.Helper()
	for _, path := range []string{mainModule, mainModule + "/miniapitest"} {
		dir := filepath.Join(cache, filepath.FromSlash(path)+"@"+version)
		check(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // the test has failed before
				return nil
			case err != nil || !entry.IsDir():
				return err
			}
			return os.Chmod(path, 0o700) // go install with other flags makes them read-only
		}))
		check(t, os.RemoveAll(dir))
		files, err := filepath.Glob(filepath.Join(cache, "cache/download", filepath.FromSlash(path), "@v", version+".*"))
		check(t, err)
		for _, file := range files {
			check(t, os.Remove(file))
		}
	}
}

// git returns the output of a git command.
func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("a release is built from a git repository: git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func goEnv(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "env", "-json").Output()
	check(t, err)
	env := map[string]string{}
	check(t, json.Unmarshal(out, &env))
	return env
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
