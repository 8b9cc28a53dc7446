package embedded_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStart(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Client().Put(t.Context(), "/a", "1"); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		server, err := embedded.Start(b.Context(), embedded.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := server.Client().Put(b.Context(), "/a", "1"); err != nil {
			b.Fatal(err)
		}
		if err := server.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
