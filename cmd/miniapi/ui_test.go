package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniapi/miniapi"
)

func TestUIPrintsURL(t *testing.T) {
	plain, err := miniapi.Start(t.Context(), miniapi.Config{UI: true})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Stop(context.Background())
	if out, err := runMiniapi(t, "ui", "--server", plain.URL()); err != nil || out != plain.URL()+"/ui/\n" {
		t.Errorf("%v: %s", err, out)
	}

	secure, err := miniapi.Start(t.Context(), miniapi.Config{UI: true, Secure: &miniapi.Secure{}})
	if err != nil {
		t.Fatal(err)
	}
	defer secure.Stop(context.Background())
	kubeconfig, err := secure.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := runMiniapi(t, "ui", "--kubeconfig", file); err != nil || out != secure.URL()+"/ui/#token="+secure.RESTConfig().BearerToken+"\n" {
		t.Errorf("%v: %s", err, out)
	}

	without, err := miniapi.Start(t.Context(), miniapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer without.Stop(context.Background())
	if _, err := runMiniapi(t, "ui", "--server", without.URL()); err == nil || !strings.Contains(err.Error(), "--enable-ui") {
		t.Errorf("a server without the page: %v", err)
	}
}
