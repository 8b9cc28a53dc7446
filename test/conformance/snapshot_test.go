package conformance

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/storage/embedded"
)

// TestSnapshotOfKubeAPIServerIsServed restores an etcd snapshot of a real kube-apiserver and
// reads every object in it.
func TestSnapshotOfKubeAPIServerIsServed(t *testing.T) {
	dir := t.TempDir()
	snapshot := filepath.Join(dir, "snapshot.db")
	unpack(t, filepath.Join("..", "..", "storage", "embedded", "testdata", "kube-apiserver-v1.36.3.db.gz"), snapshot)
	data := filepath.Join(dir, "data")
	if err := embedded.Restore(t.Context(), snapshot, data); err != nil {
		t.Fatal(err)
	}
	server := servertest.Start(t, miniapi.Config{DataDir: data, Controllers: []string{"-*"}, EmulatedVersion: "1.36"})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	served := 0
	for _, want := range recordedObjects(t) {
		path, ok := pathOf(want)
		if !ok {
			continue
		}
		served++
		got := getJSON(t, server.URL()+path)
		for _, object := range []map[string]any{want, got} {
			delete(object["metadata"].(map[string]any), "managedFields")
			dropNewer(object)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs from what kube-apiserver showed (-want +got):\n%s", path, diff)
		}
	}
	t.Logf("%d objects", served)
	if served < 200 {
		t.Errorf("only %d objects were compared", served)
	}
}

// dropNewer removes the one field that the recorded release did not have.
func dropNewer(object map[string]any) {
	if object["kind"] == "CSINode" {
		delete(object, "status")
	}
}

// pathOf returns the URL path of an object of a built-in kind.
func pathOf(object map[string]any) (string, bool) {
	apiVersion, kind := object["apiVersion"].(string), object["kind"].(string)
	group, version, found := strings.Cut(apiVersion, "/")
	root := "/apis/" + apiVersion
	if !found {
		group, version, root = "", apiVersion, "/api/"+apiVersion
	}
	metadata := object["metadata"].(map[string]any)
	for _, r := range kinds.Resources(feature.Default()) {
		if _, ok := r.Version(version); !ok || r.Group != group || r.Kind != kind || r.Virtual != nil {
			continue
		}
		if r.Namespaced {
			root += "/namespaces/" + metadata["namespace"].(string)
		}
		return fmt.Sprintf("%s/%s/%s", root, r.Name, metadata["name"]), true
	}
	return "", false
}

func recordedObjects(t *testing.T) []map[string]any {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "snapshot-objects.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	if err := json.NewDecoder(unpacked).Decode(&objects); err != nil {
		t.Fatal(err)
	}
	return objects
}

func getJSON(t *testing.T, url string) map[string]any {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var object map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&object); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %v", url, object)
	}
	return object
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, unpacked); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
