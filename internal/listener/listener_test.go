package listener

import (
	"crypto/tls"
	"io"
	"net"
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

// A connection is closed when the headers of a request are late, and when it is idle.
func TestTimeoutsOfConnections(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for rule, c := range map[string]struct {
		config   Config
		sent     string
		response string // before the end of the connection
	}{
		"late headers":       {Config{HeaderTimeout: 50 * time.Millisecond}, request[:16], ""},
		"no request":         {Config{HeaderTimeout: 50 * time.Millisecond}, "", ""},
		"an idle connection": {Config{IdleTimeout: 50 * time.Millisecond}, request, "HTTP/1.1 404 Not Found"},
	} {
		t.Run(rule, func(t *testing.T) {
			l, _ := serveWith(t, c.config, http.NotFoundHandler())
			conn, err := net.Dial("tcp", strings.TrimPrefix(l.PlainURL(), "http://"))
			check(t, err)
			defer conn.Close()
			_, err = io.WriteString(conn, c.sent)
			check(t, err)
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), c.response) || c.response == "" && len(got) > 0 {
				t.Errorf("got %q and error %v", got, err)
			}
		})
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
