package datastore

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

// The start does not wait for an etcd that accepts connections and does not answer.
func TestSilentClusterFailsTheStart(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, err = Open(t.Context(), Config{
		Servers: []string{"http://" + silent.Addr().String()}, ConnectTimeout: 50 * time.Millisecond,
		Prefix: "/registry", Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil || !strings.Contains(err.Error(), "did not answer within 50ms: check that it runs") {
		t.Errorf("got error %v", err)
	}
}

func TestConnectTimeoutHasADefault(t *testing.T) {
	if got := new(Config).connectTimeout(); got != 5*time.Second {
		t.Errorf("got %v", got)
	}
}
