package miniapitest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// reportTimeout bounds the requests to the host for a report, whose test has failed already. A host
// on a busy machine answers late.
const reportTimeout = time.Minute

// maxRequests is the maximum number of requests in a report.
const maxRequests = 50

// reportFailure logs the last requests to the server of a failed test, and the names of its
// objects.
func (s *Server) reportFailure(t testing.TB) {
	t.Helper()
	if s.stopping.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	requests, err := s.Requests(ctx)
	if err != nil { // Stop reports a host that has ended
		return
	}
	if surplus := len(requests) - maxRequests; surplus > 0 {
		requests = requests[surplus:]
	}
	conflicts, err := s.Conflicts(ctx)
	if err != nil { // an older host
		conflicts = nil
	}
	var objects []objectNames
	if err := s.call(ctx, http.MethodGet, "/objects", nil, &objects); err != nil {
		t.Logf("miniapitest: the objects of %s are unknown: %v", s.URL(), err)
	}
	t.Logf("miniapitest: %s failed. The last requests to its server %s, in the order in which they ended:%s\nIts objects:%s%s",
		t.Name(), s.URL(), requestTable(requests), objectTable(objects), conflictTable(conflicts))
}

// requestTable returns a line for each request.
func requestTable(requests []Request) string {
	if len(requests) == 0 {
		return " none"
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\nTIME\tTOOK\tCODE\tREASON\tVERB\tRESOURCE\tNAME\tRESOURCEVERSION\tUSER\tCLIENT")
	for _, r := range requests {
		fmt.Fprintf(table, "\n%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s", r.Time.Local().Format("15:04:05.000"), round(r.Duration),
			r.Code, dash(r.Reason), r.Verb, r.target(), dash(r.object()), dash(r.versions()), dash(r.effectiveUser()), dash(r.client()))
	}
	_ = table.Flush() // to memory
	return indented(text.String())
}

// indented indents the lines after the first one, as other messages of several lines.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n\t") }

// round returns a duration with three digits.
func round(d time.Duration) string {
	unit := time.Microsecond
	for limit := 10 * time.Millisecond; d >= limit && unit < time.Second; limit *= 10 {
		unit *= 10
	}
	return d.Round(unit).String()
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// target returns the resource as RBAC names it, or the path if that names no resource.
func (r Request) target() string {
	if r.Resource == "" {
		path, _, _ := strings.Cut(r.URI, "?")
		return path
	}
	name := r.Resource
	if r.Group != "" {
		name += "." + r.Group
	}
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	return name
}

func (r Request) object() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// versions returns the resourceVersion of the request, and after an arrow the new resourceVersion.
func (r Request) versions() string {
	if r.Revision == 0 {
		return r.ResourceVersion
	}
	return strings.TrimSpace(r.ResourceVersion + " -> " + strconv.FormatInt(r.Revision, 10))
}

func (r Request) effectiveUser() string {
	if r.ImpersonatedUser != "" {
		return r.ImpersonatedUser
	}
	return r.User
}

// client returns the first word of the User-Agent.
func (r Request) client() string {
	client, _, _ := strings.Cut(r.UserAgent, " ")
	return client
}

// Limits of objectTable.
const (
	maxResources = 40
	maxNames     = 20
)

// objectTable returns a line for each resource.
func objectTable(objects []objectNames) string {
	if len(objects) == 0 {
		return " none"
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for i, resource := range objects {
		if i == maxResources {
			fmt.Fprintf(table, "\nand %d more resources", len(objects)-i)
			break
		}
		names, more := resource.Names, ""
		if len(names) > maxNames {
			names, more = names[:maxNames], fmt.Sprintf(", and %d more", len(names)-maxNames)
		}
		fmt.Fprintf(table, "\n%s\t%s%s", resource.Resource, strings.Join(names, ", "), more)
	}
	_ = table.Flush() // to memory
	return indented(text.String())
}

// keepsFailed reports whether the servers of failed tests are kept: MINIAPI_KEEP=1.
func keepsFailed() (bool, error) {
	value := os.Getenv("MINIAPI_KEEP")
	if value == "" {
		return false, nil
	}
	keep, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("MINIAPI_KEEP=%s is neither 1 nor 0", value)
	}
	return keep, nil
}

// keep lets the server outlive its test and logs how to use and stop it. It returns false if the
// server has ended.
func (s *Server) keep(t testing.TB) bool {
	t.Helper()
	if s.stopping.Load() {
		return false
	}
	var kept keptServer
	if err := s.call(context.Background(), http.MethodPost, "/keep", nil, &kept); err != nil {
		t.Logf("miniapitest: the server of %s was not kept: %v", t.Name(), err)
		return false
	}
	s.stopOnce.Do(s.leave)
	t.Logf("miniapitest: the server of %s is kept until it has had no request for %s:\n"+
		"\texport KUBECONFIG=%s\n\tcurl --unix-socket %s -X DELETE http://host/v1/servers/%s    # stops it",
		t.Name(), kept.IdleTimeout, kept.Kubeconfig, s.host.socket, s.description.ID)
	return true
}

// leave ends the stream of events without the server.
func (s *Server) leave() {
	s.stopping.Store(true)
	s.events.close()
	<-s.done
}

// writeKubeconfig writes the file that the environment variable MINIAPI_KUBECONFIG names.
func writeKubeconfig(data []byte) error {
	path := os.Getenv("MINIAPI_KUBECONFIG")
	if path == "" {
		return nil
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("MINIAPI_KUBECONFIG: %w", err)
	}
	return nil
}
