package api

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

func (s *testServer) webSocket(path, accept string, protocols ...string) *websocket.Conn {
	s.t.Helper()
	config, err := websocket.NewConfig("ws"+strings.TrimPrefix(s.http.URL, "http")+path, s.http.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	config.Header.Set("Accept", accept)
	config.Protocol = protocols
	conn, err := config.DialContext(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

func receive[T string | []byte](t *testing.T, conn *websocket.Conn) T {
	t.Helper()
	var message T
	if err := websocket.Message.Receive(conn, &message); err != nil {
		t.Fatal(err)
	}
	return message
}

// Each event is a message: text for JSON, bytes for CBOR, and for protobuf an event without its
// length.
func TestWatchOverWebSocket(t *testing.T) {
	s := newTestServer(t, withCBOR)
	const path = "/api/v1/configmaps?watch=true"
	asJSON := s.webSocket(path, "application/json")
	asProtobuf := s.webSocket(path, "application/vnd.kubernetes.protobuf")
	asCBOR := s.webSocket(path, "application/cbor")
	for _, name := range []string{"a", "b"} {
		s.configMap(name, "1")
		if got := receive[string](t, asJSON); !strings.HasPrefix(got, `{"type":"ADDED","object":{"kind":"ConfigMap"`) || !strings.Contains(got, `"name":"`+name+`"`) || !strings.HasSuffix(got, "\n") {
			t.Errorf("got %q", got)
		}
		var event metav1.WatchEvent
		if err := event.Unmarshal(receive[[]byte](t, asProtobuf)); err != nil || event.Type != "ADDED" || !strings.HasPrefix(string(event.Object.Raw), "k8s\x00") {
			t.Errorf("got %+v, %v", event, err)
		}
		var inCBOR metav1.WatchEvent
		if err := direct.Unmarshal(receive[[]byte](t, asCBOR), &inCBOR); err != nil || inCBOR.Type != "ADDED" || !strings.HasPrefix(string(inCBOR.Object.Raw), "\xd9\xd9\xf7") {
			t.Errorf("got %+v, %v", inCBOR, err)
		}
	}
}

// The server ends the watch with a closed connection, when the client closes it, at the timeout,
// and at the shutdown.
func TestEndOfWatchOverWebSocket(t *testing.T) {
	s := newTestServer(t, nil)
	var message string
	timedOut := s.webSocket("/api/v1/configmaps?watch=true&timeoutSeconds=1", "")
	if err := websocket.Message.Receive(timedOut, &message); err != io.EOF {
		t.Errorf("got %q, %v after the timeout", message, err)
	}
	closed := s.webSocket("/api/v1/configmaps?watch=true", "")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	open := s.webSocket("/api/v1/configmaps?watch=true", "")
	if err := s.api.Shutdown(context.Background()); err != nil { // returns when all requests have ended
		t.Fatal(err)
	}
	if err := websocket.Message.Receive(open, &message); err != io.EOF {
		t.Errorf("got %q, %v after the shutdown", message, err)
	}
}

// Errors before the first event are answers in HTTP, and failed handshakes have the answers of
// kube-apiserver.
func TestFailedUpgrades(t *testing.T) {
	s := newTestServer(t, nil)
	upgrade := func(path string, headers ...string) *http.Response {
		t.Helper()
		conn := s.dial()
		request := "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n" +
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" + strings.Join(append(headers, "\r\n"), "\r\n")
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response
	}
	const watch, origin = "/api/v1/configmaps?watch=true", "Origin: http://localhost"
	for _, tc := range []struct {
		rule     string
		response *http.Response
		status   int
		protocol string
	}{
		{"an origin is required", upgrade(watch), 403, ""},
		{"no subprotocol", upgrade(watch, origin), 101, ""},
		{"the only subprotocol is accepted", upgrade(watch, origin, "Sec-WebSocket-Protocol: a"), 101, "a"},
		{"one of several subprotocols is not selected", upgrade(watch, origin, "Sec-WebSocket-Protocol: a, b"), 400, ""},
		{"an invalid watch", upgrade(watch+"&resourceVersion=x", origin), 400, ""},
		{"a list is not upgraded", upgrade("/api/v1/configmaps", origin), 200, ""},
	} {
		if got := tc.response; got.StatusCode != tc.status || got.Header.Get("Sec-WebSocket-Protocol") != tc.protocol {
			t.Errorf("%s: got %s, subprotocol %q", tc.rule, got.Status, got.Header.Get("Sec-WebSocket-Protocol"))
		}
	}
}
