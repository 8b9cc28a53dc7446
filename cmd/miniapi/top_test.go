package main

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestTopPrintsClientsWatchesAndConflicts(t *testing.T) {
	server, created, _ := startWithConfigMap(t)
	config := rest.CopyConfig(server.RESTConfig())
	config.UserAgent = "loser/v1"
	maps := servertest.Client(t, config).CoreV1().ConfigMaps("default")
	watch, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	<-watch.ResultChan() // the server has sent all events
	stale, err := maps.Get(t.Context(), "c", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stale.ResourceVersion, stale.Data["k"] = created, "w"
	if _, err := maps.Update(t.Context(), stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Fatalf("the stale update: %v", err)
	}
	out, err := runMiniapi(t, "top", "--server", server.URL())
	want := regexp.MustCompile(`^miniapi \S+, Kubernetes v1\.\d+\S+
revision \d+, oldest \d+; database \d+\.\d MiB, \d+\.\d MiB in use; \d+ open requests?, 1 of them watches; 1 conflict

CLIENT +RATE +REQUESTS +CONFLICTS +ERRORS +SLOWEST +
(\S.*
)*loser +\d+\.\d/s +2 +1 +1 +\S+ +(GET|PUT) /api/v1/namespaces/default/configmaps/c
(\S.*
)*
WATCH +NAMESPACE +CLIENT +SENT +CURRENT +WAITING +EVENTS
configmaps +default +loser +\d+ +\d+ +0 +\d+

CONFLICT +LOSER +WINNER +FIELDS +RETRIED
configmaps default/c +loser +patcher +\.data\.k +\S+
$`)
	if err != nil || !want.MatchString(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTopNamesItsProblem(t *testing.T) {
	server, err := miniapi.Start(t.Context(), miniapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	for flag, text := range map[string]string{
		"":               "top: the server does not serve the test APIs",
		"--interval=1ms": "--interval 1ms is too short",
	} {
		args := []string{"top", "--server", server.URL()}
		if flag != "" {
			args = append(args, flag)
		}
		if out, err := runMiniapi(t, args...); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v\n%s", flag, err, out)
		}
	}
}

// TestTopRedrawsUntilItIsInterrupted checks the view of a terminal.
func TestTopRedrawsUntilItIsInterrupted(t *testing.T) {
	server, _, _ := startWithConfigMap(t)
	client, err := newServerClient(server.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer client.close()
	ctx, cancel := context.WithCancel(t.Context())
	screens := &screenCounter{until: 3, done: cancel}
	if err := watchTop(ctx, client, screens, time.Millisecond); err != nil {
		t.Errorf("an interrupt is an error: %v", err)
	}
	if err := watchTop(t.Context(), client, &screenCounter{until: 2, fail: errors.New("closed")}, time.Millisecond); err == nil {
		t.Error("the error of the terminal is lost")
	}
}

// screenCounter ends the view after a number of screens.
type screenCounter struct {
	screens, until int
	done           func()
	fail           error
}

func (s *screenCounter) Write(screen []byte) (int, error) {
	if !bytes.HasPrefix(screen, []byte("\x1b[H")) {
		return 0, errors.New("a screen is written in parts")
	}
	if s.screens++; s.screens < s.until {
		return len(screen), nil
	}
	if s.fail == nil {
		s.done()
	}
	return len(screen), s.fail
}
