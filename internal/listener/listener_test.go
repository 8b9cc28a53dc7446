package listener

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// limits are the limits of a connection.
type limits struct {
	headers, idle time.Duration
	headerBytes   int
}

// Both ports have the limits of docs/limits.md.
func TestLimitsOfConnections(t *testing.T) {
	l, _ := serve(t, http.NotFoundHandler())
	got := limits{l.http.ReadHeaderTimeout, l.http.IdleTimeout, l.http.MaxHeaderBytes}
	if want := (limits{32 * time.Second, 90 * time.Second, 1 << 20}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestStreamsAreLimited(t *testing.T) {
	l, _ := serve(t, http.NotFoundHandler())
	conn, err := tls.Dial("tcp", strings.TrimPrefix(l.URL(), "https://"), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	check(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, http2.ClientPreface)
	check(t, err)
	framer := http2.NewFramer(conn, conn)
	check(t, framer.WriteSettings())
	frame, err := framer.ReadFrame()
	check(t, err)
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("the first frame is %v", frame)
	}
	if got, _ := settings.Value(http2.SettingMaxConcurrentStreams); got != maxStreams {
		t.Errorf("%d streams, want %d", got, maxStreams)
	}
}
