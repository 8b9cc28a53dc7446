package registry_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// recordedBodies calls use with the bodies of requests and responses of kube-apiserver.
func recordedBodies(t *testing.T, use func(body []byte)) {
	t.Helper()
	files, err := filepath.Glob("../test/conformance/testdata/*.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(text)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var exchange struct {
				Body json.RawMessage
				Req  string
			}
			line := bytes.ReplaceAll(lines.Bytes(), []byte(`"TIME"`), []byte(`"2020-01-01T00:00:00Z"`))
			if json.Unmarshal(line, &exchange) != nil {
				continue
			}
			for _, body := range [][]byte{exchange.Body, []byte(exchange.Req)} {
				var compact bytes.Buffer
				if json.Compact(&compact, body) == nil {
					use(compact.Bytes())
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
}

// recordedObjects returns the recorded objects of built-in kinds in the hub version.
func recordedObjects(t *testing.T) map[*registry.Resource][]runtime.Object {
	t.Helper()
	byKind := map[schema.GroupVersionKind]*registry.Resource{}
	for _, r := range kinds.Resources(feature.Default()) {
		if r.Versions[0].FromHub == nil {
			byKind[schema.GroupVersionKind{Group: r.Group, Version: r.Versions[0].Name, Kind: r.Kind}] = r
		}
	}
	objects := map[*registry.Resource][]runtime.Object{}
	var add func(body []byte)
	add = func(body []byte) {
		var header struct {
			metav1.TypeMeta
			Items []json.RawMessage
		}
		if json.Unmarshal(body, &header) != nil {
			return
		}
		for _, item := range header.Items {
			add(item)
		}
		r := byKind[header.GroupVersionKind()]
		if r == nil {
			return
		}
		obj := r.Versions[0].New()
		if json.Unmarshal(body, obj) == nil {
			registry.ClearKind(obj)
			objects[r] = append(objects[r], obj)
		}
	}
	recordedBodies(t, add)
	return objects
}

// Managed fields that are computed directly equal the managed fields of package managedfields, for
// creates of recorded objects and for updates from one recorded object to the next.
func TestManagedFieldsOfRecordedObjectsEqualTheLibrary(t *testing.T) {
	stores := builtIn(t)
	var n tally
	now := time.Unix(1_700_000_000, 0).UTC()
	for r, list := range recordedObjects(t) {
		store, ok := stores.Store(schema.GroupResource{Group: r.Group, Resource: r.Name})
		if !ok {
			continue
		}
		var live runtime.Object
		for i, obj := range list {
			at := now.Add(time.Duration(i) * time.Minute)
			if live != nil {
				next := obj.DeepCopyObject()
				registrytest.Meta(live).SetUID("u")
				n.check(t, store, live, next, "next", []string{"", "status"}[i%2], at)
			}
			created := obj.DeepCopyObject()
			registrytest.Meta(created).SetManagedFields(nil)
			n.check(t, store, nil, created, "creator", "", at)
			live = obj
			if len(registrytest.Meta(obj).GetManagedFields()) == 0 {
				live = created
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%+v", n)
	if n.supported < 20*n.unsupported || n.supported == 0 {
		t.Errorf("recorded objects are not supported: %+v", n)
	}
}
