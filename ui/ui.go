package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// Path is the path at which the page is served.
const Path = "/ui"

//go:embed static
var static embed.FS

// policy permits the files of the page and requests to its server, and nothing else. Trusted Types
// prevent that a string becomes markup or script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// types are the content types by extension. The types of package mime depend on the system.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is a file as it is sent.
type file struct {
	contentType, etag string
	plain, gzip       []byte
}

// Handler serves the files below Path, and redirects Path itself to Path with a slash. It reads the
// files on the first request.
func Handler() http.Handler {
	files := sync.OnceValues(load)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		if r.URL.Path == Path {
			w.Header().Set("Location", path.Base(Path)+"/") // relative: a proxy may add a prefix
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		all, err := files()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, Path+"/")
		if name == "" {
			name = "index.html"
		}
		f, found := all[name]
		if !found {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r)
	})
}

// serve sends the file. Browsers cache it and revalidate it by its ETag.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	header, body := w.Header(), f.plain
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Vary", "Accept-Encoding")
	etag := f.etag
	if acceptsGzip(r) {
		body, etag = f.gzip, f.etag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", `"`+etag+`"`)
	for tag := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(tag), "W/") == `"`+etag+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	_, _ = w.Write(body) // the server omits the body of a HEAD
}

func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" && strings.TrimSpace(quality) != "q=0" {
			return true
		}
	}
	return false
}

// load returns the files by name.
func load() (map[string]file, error) {
	files := map[string]file{}
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		var compressed bytes.Buffer
		writer := gzip.NewWriter(&compressed)
		if _, err := writer.Write(data); err != nil {
			return err
		}
		if err := writer.Close(); err != nil {
			return err
		}
		hash := sha256.Sum256(data)
		files[strings.TrimPrefix(name, "static/")] = file{
			contentType: types[path.Ext(name)], etag: base64.RawURLEncoding.EncodeToString(hash[:12]),
			plain: data, gzip: compressed.Bytes(),
		}
		return nil
	})
	return files, err
}
