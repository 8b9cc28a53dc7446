package etcd

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// TestKeysMatchKubeAPIServer creates objects under the keys in testdata/keys.txt, which were
// recorded from a kube-apiserver, and compares them with the keys in etcd.
func TestKeysMatchKubeAPIServer(t *testing.T) {
	recorded, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(recorded))
	s := newStore(t, Config{})
	for _, path := range want {
		entry, err := s.Create(t.Context(), strings.TrimPrefix(path, "/registry"), configMap("m"), storage.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if "/registry"+entry.Key != path {
			t.Errorf("the entry's key is %s", entry.Key)
		}
	}
	resp, err := s.client.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, kv := range resp.Kvs {
		got = append(got, string(kv.Key))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys in etcd (-recorded +got):\n%s", diff)
	}
}

func TestStoredBytesMatchTheCodec(t *testing.T) {
	s := newStore(t, Config{})
	entry := create(t, s, 1)
	obj, err := entry.Object()
	if err != nil {
		t.Fatal(err)
	}
	if obj.(*corev1.ConfigMap).ResourceVersion == "" {
		t.Error("the object of the entry has no resourceVersion")
	}
	want, err := configMaps{}.Encode(configMap("1"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Get(t.Context(), "/registry"+configMapKey(1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, resp.Kvs[0].Value); diff != "" {
		t.Errorf("stored bytes (-encoded +stored):\n%s", diff)
	}
}

func TestInvalidKeysAreRejected(t *testing.T) {
	backend := &Backend{cfg: Config{}.withDefaults()}
	for _, key := range []string{"", "pods/a", "..", "/..", "/../a", "/pods/..", "/pods/../secrets/a", "/pods/.", "/pods/./a", "/pods/"} {
		if _, err := backend.target("get", key); err == nil {
			t.Errorf("%q is accepted as the key of an object", key)
		}
	}
	for _, key := range []string{"", "pods/", "/../", "/pods/../", "/pods/..", "/./"} {
		if _, err := backend.scope("list", key, true); err == nil {
			t.Errorf("%q is accepted as a prefix", key)
		}
	}
	for _, key := range []string{"/pods", "/pods/"} {
		if got, err := backend.scope("list", key, true); err != nil || got.path != "/registry/pods/" {
			t.Errorf("%q as a prefix: %v, %v", key, got, err)
		}
	}
}

func TestValidateReturnsEveryError(t *testing.T) {
	err := Config{Prefix: "registry/", PageSize: -1, ProgressInterval: -1, WatchBacklog: -1}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, field := range []string{"Client", "Prefix", "PageSize", "ProgressInterval", "WatchBacklog"} {
		if !strings.Contains(err.Error(), field+":") && !strings.Contains(err.Error(), field+" ") {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("New accepts a configuration without a client")
	}
}
