package miniapitest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/miniapi/miniapi"
)

// gracePeriod is the time for requests to end after their clients were stopped, for example by
// t.Context(). A test waits only while requests are open.
const gracePeriod = 250 * time.Millisecond

// reportLeaks reports the requests that are open after the grace period.
func reportLeaks(t testing.TB, server *miniapi.Server, fail bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), gracePeriod)
	defer cancel()
	if server.AwaitIdle(ctx) == nil {
		return
	}
	open := server.OpenRequests()
	if len(open) == 0 { // the last request has just ended
		return
	}
	report := t.Logf
	if fail {
		report = t.Errorf
	}
	report("miniapitest: %s is over, and clients of its server %s still have requests open: stop them before the test ends%s",
		t.Name(), server.URL(), lines(open))
}

// lines returns one line for each open request.
func lines(open []miniapi.OpenRequest) string {
	var text strings.Builder
	for _, request := range open {
		text.WriteString("\n\t" + request.String())
	}
	return text.String()
}
