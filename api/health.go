package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

// checkTimeout is how long one check may take.
const checkTimeout = 2 * time.Second

// Check is one condition of health.
type Check struct {
	Name string
	// Check returns why the condition does not hold. Who asks for the endpoint
	// as a whole does not see the reason.
	Check func(ctx context.Context) error
	// ShowReason shows the reason to all who ask. By default it is withheld, as
	// kube-apiserver does.
	ShowReason bool
}

// healthEndpoint is one of /healthz, /livez and /readyz.
type healthEndpoint struct {
	name   string
	checks []Check
}

// healthEndpoints are all there are. A server that shuts down answers nothing
// any more, so it need not say that it is not ready.
func (s *Server) healthEndpoints() []healthEndpoint {
	ping := Check{Name: "ping", Check: func(context.Context) error { return nil }}
	checks := append([]Check{ping}, s.config.Ready...)
	ready := append(slices.Clip(checks), s.config.ReadyOnly...)
	return []healthEndpoint{{"healthz", checks}, {"livez", checks}, {"readyz", ready}}
}

// mount serves the endpoint and each of its checks below it.
func (e healthEndpoint) mount(r chi.Router) {
	handleSlash(r, "/"+e.name, e.serveAll)
	for _, check := range e.checks {
		handleSlash(r, "/"+e.name+"/"+check.Name, check.serve)
	}
}

// paths of the endpoint and its checks, for the index.
func (e healthEndpoint) paths() []string {
	paths := []string{"/" + e.name}
	for _, check := range e.checks {
		paths = append(paths, "/"+e.name+"/"+check.Name)
	}
	return paths
}

// serveAll answers for all checks together: "ok", or on failure and with
// ?verbose a line for each.
func (e healthEndpoint) serveAll(w http.ResponseWriter, r *http.Request) {
	report, healthy := e.report(r)
	if !healthy {
		http.Error(w, report.String()+e.name+" check failed", http.StatusInternalServerError)
		return
	}
	if !r.URL.Query().Has("verbose") {
		writeText(w, "ok")
		return
	}
	writeText(w, report.String()+e.name+" check passed\n")
}

func (e healthEndpoint) report(r *http.Request) (report *bytes.Buffer, healthy bool) {
	report, healthy = &bytes.Buffer{}, true
	excluded := excludedChecks(r)
	for _, check := range e.checks {
		if slices.Contains(excluded, check.Name) {
			excluded = slices.DeleteFunc(excluded, func(name string) bool { return name == check.Name })
			fmt.Fprintf(report, "[+]%s excluded: ok\n", check.Name)
			continue
		}
		if err := check.run(r.Context()); err != nil {
			healthy = false
			fmt.Fprintf(report, "[-]%s failed: %s\n", check.Name, check.reason(err))
			continue
		}
		fmt.Fprintf(report, "[+]%s ok\n", check.Name)
	}
	if len(excluded) > 0 {
		fmt.Fprintf(report, "warn: some health checks cannot be excluded: no matches for %s\n", quoted(excluded))
	}
	return report, healthy
}

// excludedChecks reads ?exclude=a&exclude=b, each once and sorted.
func excludedChecks(r *http.Request) []string {
	excluded := slices.Clone(r.URL.Query()["exclude"])
	slices.Sort(excluded)
	return slices.Compact(excluded)
}

func (c Check) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return c.Check(ctx)
}

func (c Check) reason(err error) string {
	if c.ShowReason {
		return err.Error()
	}
	return "reason withheld"
}

// serve answers for one check alone, reason included.
func (c Check) serve(w http.ResponseWriter, r *http.Request) {
	if err := c.run(r.Context()); err != nil {
		http.Error(w, fmt.Sprintf("internal server error: %v", err), http.StatusInternalServerError)
		return
	}
	writeText(w, "ok")
}

// quoted lists names as clients of kube-apiserver know it.
func quoted(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, strconv.Quote(name))
	}
	return strings.Join(list, ",")
}

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	// A client which went away is nobody to tell.
	_, _ = w.Write([]byte(text))
}
