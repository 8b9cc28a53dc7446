package miniapitest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"testing"
	"time"
)

// deadlineMargin is the time before the deadline of a test at which a wait for an interrupt ends,
// so that the server is stopped and the report is printed.
const deadlineMargin = 5 * time.Second

// waitForInterrupt prints how to reach the server of a failed test. It returns when the user
// presses Ctrl-C, when the server ends, or shortly before the deadline of the test.
func (s *Server) waitForInterrupt(t testing.TB, options Options, out io.Writer) {
	t.Helper()
	if s.stopping.Load() {
		return
	}
	kubeconfig, err := s.temporaryKubeconfig()
	if err != nil {
		t.Logf("miniapitest: the server of %s was not kept: %v", t.Name(), err)
		return
	}
	defer os.Remove(kubeconfig)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, deadline.Add(-deadlineMargin))
			defer cancel()
		}
	}
	page := ""
	if !options.DisableTestAPIs {
		page = "\tpage " + s.URL() + "/ui/\n"
	}
	// A log of the test would appear after its end.
	fmt.Fprintf(out, "miniapitest: %s failed. Its server is up until Ctrl-C:\n\t%s\n%s\texport KUBECONFIG=%s\n", t.Name(), s.URL(), page, kubeconfig)
	select {
	case <-ctx.Done():
	case <-s.done:
	}
}

// temporaryKubeconfig returns the path of a new file with the kubeconfig.
func (s *Server) temporaryKubeconfig() (string, error) {
	file, err := os.CreateTemp("", "miniapi-kubeconfig-") // with the mode 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(s.Kubeconfig())
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}
