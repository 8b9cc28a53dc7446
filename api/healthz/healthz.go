package healthz

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// checkTimeout bounds the duration of one check.
const checkTimeout = 2 * time.Second

// Check is one condition of health.
type Check struct {
	Name string
	// Check returns the reason why the condition does not hold, or nil.
	Check func(ctx context.Context) error
	// ShowReason includes the reason in the response of /healthz, /livez and /readyz. Otherwise, as
	// in kube-apiserver, only the endpoint of the check itself shows it.
	ShowReason bool
}

// Endpoint is a path and its handler.
type Endpoint struct {
	Path    string
	Handler http.HandlerFunc
}

// Config has the checks besides ping.
type Config struct {
	// All are the checks of all endpoints.
	All []Check
	// NotLive are the checks of /healthz and /readyz.
	NotLive []Check
	// ReadyOnly are the checks of /readyz.
	ReadyOnly []Check
	// Observe is called with each result of a check in an endpoint: healthz, livez or readyz. The
	// error is nil if the check has passed. Calls may be concurrent.
	Observe func(check, endpoint string, err error)
}

// Endpoints returns /healthz, /livez and /readyz, and an endpoint below them for each check. There
// is no check for a shutdown, because a server that shuts down rejects all requests.
func Endpoints(config Config) []Endpoint {
	live := append([]Check{{Name: "ping", Check: func(context.Context) error { return nil }}}, config.All...)
	healthy := slices.Concat(live, config.NotLive)
	var endpoints []Endpoint
	observe := config.Observe
	for _, g := range []group{{"healthz", healthy, observe}, {"livez", live, observe}, {"readyz", slices.Concat(healthy, config.ReadyOnly), observe}} {
		endpoints = append(endpoints, Endpoint{"/" + g.name, g.serve})
		for _, check := range g.checks {
			endpoints = append(endpoints, Endpoint{"/" + g.name + "/" + check.Name, check.serve})
		}
	}
	return endpoints
}

// group holds the checks of one of /healthz, /livez and /readyz.
type group struct {
	name    string
	checks  []Check
	observe func(check, endpoint string, err error)
}

// serve sends "ok" if all checks pass. On failure, or with the parameter verbose, it sends a line
// per check.
func (g group) serve(w http.ResponseWriter, r *http.Request) {
	report, healthy := g.report(r)
	if !healthy {
		http.Error(w, report.String()+g.name+" check failed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !r.URL.Query().Has("verbose") {
		writeText(w, "ok")
		return
	}
	writeText(w, report.String()+g.name+" check passed\n")
}

func (g group) report(r *http.Request) (report *bytes.Buffer, healthy bool) {
	report, healthy = &bytes.Buffer{}, true
	excluded := excludedChecks(r)
	errs := g.run(r.Context(), excluded)
	for i, check := range g.checks {
		if slices.Contains(excluded, check.Name) {
			excluded = slices.DeleteFunc(excluded, func(name string) bool { return name == check.Name })
			fmt.Fprintf(report, "[+]%s excluded: ok\n", check.Name)
			continue
		}
		if err := errs[i]; err != nil {
			healthy = false
			fmt.Fprintf(report, "[-]%s failed: %s\n", check.Name, check.reason(err))
			continue
		}
		fmt.Fprintf(report, "[+]%s ok\n", check.Name)
	}
	if len(excluded) > 0 {
		fmt.Fprintf(report, "warn: some health checks cannot be excluded: no matches for %s\n", quote(excluded))
	}
	return report, healthy
}

// run runs all checks at the same time, except the excluded ones, and returns their errors.
func (g group) run(ctx context.Context, excluded []string) []error {
	errs := make([]error, len(g.checks))
	var running sync.WaitGroup // owned by this call
	for i, check := range g.checks {
		if !slices.Contains(excluded, check.Name) {
			running.Go(func() {
				errs[i] = check.run(ctx)
				g.observe(check.Name, g.name, errs[i])
			})
		}
	}
	running.Wait()
	return errs
}

// excludedChecks returns the names in ?exclude=a&exclude=b, sorted and without duplicates.
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

// serve sends the result of one check with its reason.
func (c Check) serve(w http.ResponseWriter, r *http.Request) {
	if err := c.run(r.Context()); err != nil {
		http.Error(w, fmt.Sprintf("internal server error: %v", err), http.StatusInternalServerError)
		return
	}
	writeText(w, "ok")
}

// quote returns names in the list format of kube-apiserver.
func quote(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, strconv.Quote(name))
	}
	return strings.Join(quoted, ",")
}

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	// A write fails only if the client has closed the connection.
	_, _ = w.Write([]byte(text))
}
