package ui_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/ui"
)

func get(t *testing.T, method, path string, header map[string]string) *http.Response {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	ui.Handler().ServeHTTP(recorder, request)
	return recorder.Result()
}

// maxBytes limits the size of all files.
const maxBytes = 300 << 10

func TestFilesAreServedWithPolicyAndType(t *testing.T) {
	total := 0
	err := fs.WalkDir(os.DirFS("static"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		total += int(info.Size())
		response := get(t, http.MethodGet, "/ui/"+name, nil)
		header := response.Header
		if response.StatusCode != http.StatusOK || header.Get("Content-Type") == "" || header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || response.ContentLength > info.Size() {
			t.Errorf("%s: %d %v", name, response.StatusCode, header)
		}
		return err
	})
	if err != nil || total == 0 || total > maxBytes {
		t.Errorf("%d bytes, %v", total, err)
	}
}

func TestBrowserKeepsFilesThatHaveNotChanged(t *testing.T) {
	for _, coding := range []string{"", "gzip, br"} {
		first := get(t, http.MethodGet, "/ui/app.js", map[string]string{"Accept-Encoding": coding})
		tag := first.Header.Get("ETag")
		again := get(t, http.MethodGet, "/ui/app.js", map[string]string{"Accept-Encoding": coding, "If-None-Match": `"other", W/` + tag})
		if tag == "" || first.Header.Get("Cache-Control") != "no-cache" || again.StatusCode != http.StatusNotModified {
			t.Errorf("encoding %q: tag %s, then %d", coding, tag, again.StatusCode)
		}
		if (first.Header.Get("Content-Encoding") == "gzip") != (coding != "") {
			t.Errorf("encoding %q: %v", coding, first.Header)
		}
	}
}

func TestOtherRequestsAreRejected(t *testing.T) {
	for request, want := range map[string]int{
		"GET /ui": http.StatusMovedPermanently, "GET /ui/": http.StatusOK, "HEAD /ui/": http.StatusOK,
		"GET /ui/none": http.StatusNotFound, "GET /ui/../ui.go": http.StatusNotFound, "GET /ui/static/app.js": http.StatusNotFound,
		"POST /ui/": http.StatusMethodNotAllowed, "DELETE /ui/app.js": http.StatusMethodNotAllowed,
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := get(t, method, path, nil).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", request, got, want)
		}
	}
}

// Strings must not become markup or code: the policy of the page forbids it, and a violation would
// only show at run time.
func TestScriptsDoNotParseStrings(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|javascript:|\sstyle=|\son[a-z]+="|https?://[^w]`)
	err := fs.WalkDir(os.DirFS("static"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile("static/" + name)
		if found := forbidden.Find(data); found != nil {
			t.Errorf("%s contains %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A name that a module does not export is an error at run time only, and so is the use of a name in
// a circle of imports before its module has run.
func TestImportsOfModules(t *testing.T) {
	imports := regexp.MustCompile(`(?m)^import \{ (.*) \} from '\./(.*)';$`)
	exports := regexp.MustCompile(`(?m)^export (?:async )?(?:function\*?|class|const) (\w+)`)
	files := os.DirFS("static")
	names, err := fs.Glob(files, "*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	scripts, exported := map[string]string{}, map[string]bool{}
	for _, name := range names {
		script, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		scripts[name] = string(script)
		for _, match := range exports.FindAllStringSubmatch(scripts[name], -1) {
			exported[name+" "+match[1]] = true
		}
	}
	finished := map[string]bool{}
	var visit func(name string, importers []string)
	visit = func(name string, importers []string) {
		if slices.Contains(importers, name) {
			t.Errorf("%s imports itself: %q", name, importers)
			return
		}
		for _, match := range imports.FindAllStringSubmatch(scripts[name], -1) {
			for symbol := range strings.SplitSeq(match[1], ", ") {
				if !finished[name] && !exported[match[2]+" "+symbol] {
					t.Errorf("%s imports %s, which %s does not export", name, symbol, match[2])
				}
			}
			if !finished[match[2]] {
				visit(match[2], append(slices.Clip(importers), name))
			}
		}
		finished[name] = true
	}
	for _, name := range names {
		visit(name, nil)
	}
}
