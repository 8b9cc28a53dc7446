package backups_test

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// Revisions of the snapshots, see testdata/README.md.
const (
	oldestRevision = 197
	beforeRevision = 229
	afterRevision  = 239
)

var recipes = schema.GroupVersionResource{Group: "kitchen.example.com", Version: "v1", Resource: "recipes"}

// snapshot returns the path of an unpacked snapshot, the only file in its directory.
func snapshot(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", name+".gz"))
	check(t, err)
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	check(t, err)
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	check(t, err)
	_, err = io.Copy(file, reader)
	check(t, errors.Join(err, file.Close()))
	return path
}

// clients returns clients that close their connections at the end of the test.
func clients(t *testing.T, server *miniapi.Server) (*kubernetes.Clientset, dynamic.Interface) {
	t.Helper()
	client := servertest.HTTPClient(t, server.RESTConfig())
	typed, err := kubernetes.NewForConfigAndClient(server.RESTConfig(), client)
	check(t, err)
	custom, err := dynamic.NewForConfigAndClient(server.RESTConfig(), client)
	check(t, err)
	return typed, custom
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
