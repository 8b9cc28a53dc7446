package integration_test

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/storage/encryption/kmstest"
)

// encryptionConfig returns an EncryptionConfiguration with one entry for each pair of a resource
// and a list of providers.
func encryptionConfig(entries ...string) string {
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
	for i := 0; i < len(entries); i += 2 {
		text += "- resources: ['" + entries[i] + "']\n  providers: [" + entries[i+1] + "]\n"
	}
	return text
}

// provider returns a provider with a key that is derived from the name of the key.
func provider(kind, key string) string {
	secret := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(key[:1]), 32))
	return "{" + kind + ": {keys: [{name: " + key + ", secret: " + secret + "}]}}"
}

const plaintext = "{identity: {}}"

// encryptedServer is a server with a data directory and a client of its etcd.
type encryptedServer struct {
	*testing.T
	*miniapi.Server
	kubernetes.Interface
	etcd *clientv3.Client
}

func startEncrypted(t *testing.T, config miniapi.Config) *encryptedServer {
	t.Helper()
	config.EtcdListenClientURLs = []string{"http://127.0.0.1:0"}
	s := &encryptedServer{T: t, Server: servertest.Start(t, config)}
	s.Interface = clientset(t, s.Server)
	var err error
	s.etcd, err = clientv3.New(clientv3.Config{Endpoints: s.EtcdClientURLs()})
	check(t, err)
	t.Cleanup(func() { check(t, s.etcd.Close()) })
	return s
}

// stored returns the stored bytes of a key below /registry.
func (s *encryptedServer) stored(key string) string {
	s.Helper()
	resp, err := s.etcd.Get(s.Context(), "/registry"+key)
	check(s.T, err)
	if len(resp.Kvs) == 0 {
		return ""
	}
	return string(resp.Kvs[0].Value)
}

// expectPrefix checks the prefix of a stored value.
func (s *encryptedServer) expectPrefix(key, prefix string) {
	s.Helper()
	if stored := s.stored(key); !strings.HasPrefix(stored, prefix) {
		s.Errorf("%s is stored as %.60q, want the prefix %s", key, stored, prefix)
	}
}

func (s *encryptedServer) createSecret(name string) *corev1.Secret {
	s.Helper()
	secret, err := s.CoreV1().Secrets("default").Create(s.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"password": []byte("swordfish")},
	}, metav1.CreateOptions{})
	check(s.T, err)
	return secret
}

func (s *encryptedServer) secret(name string) *corev1.Secret {
	s.Helper()
	secret, err := s.CoreV1().Secrets("default").Get(s.Context(), name, metav1.GetOptions{})
	check(s.T, err)
	return secret
}

// Every object is encrypted, also the bootstrap objects, definitions and custom resources, and
// clients see no difference: get, list, watch, restart.
func TestEncryptionAtRest(t *testing.T) {
	dir := t.TempDir()
	config := miniapi.Config{
		DataDir: t.TempDir(), EncryptionProviderConfig: write(t, dir, "encryption.yaml", encryptionConfig("*.*", provider("aesgcm", "all"))),
		CRDs: []string{write(t, dir, "crd.yaml", definition("widgets", "Widget"))},
	}
	s := startEncrypted(t, config)
	watcher, err := s.CoreV1().Secrets("").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer watcher.Stop()
	created := s.createSecret("a")
	createWidget(t, s.Server, "w")
	if event := <-watcher.ResultChan(); event.Type != watch.Added || event.Object.(*corev1.Secret).ResourceVersion != created.ResourceVersion {
		t.Errorf("the watch reports %v", event)
	}
	all, err := s.etcd.Get(t.Context(), "/registry/", clientv3.WithPrefix())
	check(t, err)
	for _, kv := range all.Kvs {
		internal := strings.HasPrefix(string(kv.Key), "/registry/miniapi.io/") || strings.HasPrefix(string(kv.Key), "/registry/ranges/")
		if encrypted := bytes.HasPrefix(kv.Value, []byte("k8s:enc:aesgcm:v1:all:")); encrypted == internal {
			t.Errorf("%s is stored as %.40q", kv.Key, kv.Value)
		}
	}
	check(t, servertest.Stop(s.Server))

	config.CRDs = nil
	s = startEncrypted(t, config)
	if got := string(s.secret("a").Data["password"]); got != "swordfish" {
		t.Errorf("the secret is %q after a restart", got)
	}
	list, err := widgets(t, s.Server).List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 1 {
		t.Errorf("%d widgets after a restart", len(list.Items))
	}
}

// An update that changes nothing rewrites a value that was written with another key, whichever verb
// it has, and nothing else.
func TestStaleValuesAreRewritten(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir(), EncryptionProviderConfig: write(t, t.TempDir(), "e.yaml", encryptionConfig("secrets", provider("aescbc", "old")))}
	s := startEncrypted(t, config)
	applied := func(s *encryptedServer) {
		_, err := s.CoreV1().Secrets("default").Patch(t.Context(), "apply", types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"apply"},"data":{"a":"Yg=="}}`), metav1.PatchOptions{FieldManager: "test"})
		check(t, err)
	}
	for _, name := range []string{"put", "patch"} {
		s.createSecret(name)
	}
	applied(s)
	check(t, servertest.Stop(s.Server))

	config.EncryptionProviderConfig = write(t, t.TempDir(), "e.yaml", encryptionConfig("secrets", provider("secretbox", "new")+", "+provider("aescbc", "old")))
	s = startEncrypted(t, config)
	for name, update := range map[string]func(*corev1.Secret){
		"put": func(secret *corev1.Secret) {
			_, err := s.CoreV1().Secrets("default").Update(t.Context(), secret, metav1.UpdateOptions{})
			check(t, err)
		},
		"patch": func(*corev1.Secret) {
			_, err := s.CoreV1().Secrets("default").Patch(t.Context(), "patch", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			check(t, err)
		},
		"apply": func(*corev1.Secret) { applied(s) },
	} {
		key := "/secrets/default/" + name
		before := s.secret(name)
		s.expectPrefix(key, "k8s:enc:aescbc:v1:old:")
		update(before)
		s.expectPrefix(key, "k8s:enc:secretbox:v1:new:")
		after := s.secret(name)
		if after.ResourceVersion == before.ResourceVersion {
			t.Errorf("%s: the rewritten value has the resourceVersion of the stale one", name)
		}
		update(after)
		if again := s.secret(name); again.ResourceVersion != after.ResourceVersion {
			t.Errorf("%s: an update without a change has written a value that is not stale", name)
		}
	}
}

// Values that cannot be decrypted are errors with the texts of kube-apiserver, which name the
// provider, do not affect other objects, and can be deleted on request.
func TestUndecryptableValues(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir(), EncryptionProviderConfig: write(t, t.TempDir(), "e.yaml", encryptionConfig("secrets", provider("aesgcm", "lost")))}
	s := startEncrypted(t, config)
	s.createSecret("a")
	check(t, servertest.Stop(s.Server))

	config.EncryptionProviderConfig = ""
	s = startEncrypted(t, config)
	const text = "data from the storage is not transformable revision=0: identity transformer tried to read encrypted data: the value has the prefix k8s:enc:aesgcm:v1:lost:"
	const get = "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /secrets/default/a, ResourceVersion: 0, AdditionalErrorMsg: " + text
	secrets := s.CoreV1().Secrets("default")
	_, err := secrets.Get(t.Context(), "a", metav1.GetOptions{})
	expectMessage(t, "get", err, get)
	_, err = secrets.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	expectMessage(t, "patch", err, "Internal error occurred: "+text)
	expectMessage(t, "delete", secrets.Delete(t.Context(), "a", metav1.DeleteOptions{}), get)
	_, err = secrets.List(t.Context(), metav1.ListOptions{})
	expectMessage(t, "list", err, "failed to read one or more secrets from the storage")
	watcher, err := secrets.Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	event := <-watcher.ResultChan()
	watcher.Stop()
	expectMessage(t, "watch", apierrors.FromObject(event.Object), get)
	createConfigMap(t, s.Interface, "b")

	ignore := true
	check(t, secrets.Delete(t.Context(), "a", metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: &ignore}))
	list, err := secrets.List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 0 || s.stored("/secrets/default/a") != "" {
		t.Errorf("%d secrets are left", len(list.Items))
	}
}

func expectMessage(t *testing.T, verb string, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("%s: got %v, want %s", verb, err, want)
	}
}

// A reload makes values readable that were not, in gets, lists and watches, without a restart.
func TestReloadMakesValuesReadable(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	old := encryptionConfig("secrets", provider("aescbc", "old"), "widgets.example.org", provider("aescbc", "old"))
	config := miniapi.Config{
		DataDir: data, EncryptionProviderConfig: write(t, dir, "e.yaml", old), EncryptionProviderConfigAutomaticReload: true,
		CRDs: []string{write(t, dir, "crd.yaml", definition("widgets", "Widget"))},
	}
	s := startEncrypted(t, config)
	s.createSecret("a")
	createWidget(t, s.Server, "w")
	check(t, servertest.Stop(s.Server))

	write(t, dir, "e.yaml", encryptionConfig("secrets", provider("aescbc", "new"), "widgets.example.org", provider("aescbc", "new")))
	var logged syncBuffer
	config.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	s = startEncrypted(t, config)
	if _, err := s.CoreV1().Secrets("default").Get(t.Context(), "a", metav1.GetOptions{}); err == nil {
		t.Fatal("the secret is readable without its key")
	}
	if _, err := widgets(t, s.Server).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Fatal("the widget is readable without its key")
	}
	configMaps, err := s.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	check(t, err)
	defer configMaps.Stop()
	both := provider("aescbc", "new") + ", " + provider("aescbc", "old")
	write(t, dir, "e.yaml", encryptionConfig("secrets", both, "widgets.example.org", both))
	await(t, func() bool {
		list, err := s.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		return err == nil && len(list.Items) == 1
	})
	await(t, func() bool {
		list, err := widgets(t, s.Server).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		return err == nil && len(list.Items) == 1
	})
	createConfigMap(t, s.Interface, "after")
	for event := range configMaps.ResultChan() { // the watch of another resource goes on
		created, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			t.Fatalf("the watch of ConfigMaps reports %v", event)
		}
		if created.Name == "after" {
			break
		}
	}
	s.createSecret("b")
	s.expectPrefix("/secrets/default/b", "k8s:enc:aescbc:v1:new:")
	watcher, err := s.CoreV1().Secrets("default").Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer watcher.Stop()
	for _, name := range []string{"a", "b"} { // of different keys
		if event := <-watcher.ResultChan(); event.Type != watch.Added || event.Object.(*corev1.Secret).Name != name {
			t.Errorf("the watch reports %v", event)
		}
	}
	for _, key := range []string{"old", "new"} {
		if secret := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(key[:1]), 32)); strings.Contains(logged.String(), secret) {
			t.Error("the log contains a secret")
		}
	}
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Values are encrypted by a KMS plugin, which has a health check but does not restart the server.
func TestEncryptionByKMSPlugin(t *testing.T) {
	dir, err := os.MkdirTemp("", "kms") // the path of a socket has 108 bytes at most
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	plugin, err := kmstest.Start(filepath.Join(dir, "socket"), "key-1")
	check(t, err)
	t.Cleanup(plugin.Stop)
	const kms = "{kms: {apiVersion: v2, name: plugin, endpoint: 'unix://DIR/socket'}}"
	config := miniapi.Config{
		DataDir:                  t.TempDir(),
		EncryptionProviderConfig: write(t, dir, "e.yaml", strings.ReplaceAll(encryptionConfig("secrets", kms), "DIR", dir)),
	}
	s := startEncrypted(t, config)
	s.createSecret("a")
	s.expectPrefix("/secrets/default/a", "k8s:enc:kms:v2:plugin:")
	for path, want := range map[string]string{"/readyz/kms-providers": "ok", "/healthz/kms-providers": "ok", "/livez/kms-providers": ""} {
		body, err := s.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		if (err == nil) != (want != "") || want != "" && string(body) != want {
			t.Errorf("%s: %s, error %v", path, body, err)
		}
	}
	check(t, servertest.Stop(s.Server))
	s = startEncrypted(t, config)
	if got := string(s.secret("a").Data["password"]); got != "swordfish" {
		t.Errorf("the secret is %q after a restart", got)
	}
}

// A snapshot holds decrypted values: a reset does not write unchanged objects, and a fork encrypts
// with its own configuration.
func TestSnapshotsOfEncryptedValues(t *testing.T) {
	config := miniapi.Config{EncryptionProviderConfig: write(t, t.TempDir(), "e.yaml", encryptionConfig("secrets", provider("aesgcm", "first"), "configmaps", plaintext))}
	s := startEncrypted(t, config)
	kept := s.createSecret("kept")
	snapshot, err := s.Snapshot(t.Context())
	check(t, err)
	s.createSecret("removed")
	check(t, s.Restore(t.Context(), snapshot))
	if got := s.secret("kept"); got.ResourceVersion != kept.ResourceVersion {
		t.Errorf("the restore has written an unchanged object: %s, before %s", got.ResourceVersion, kept.ResourceVersion)
	}
	if s.stored("/secrets/default/removed") != "" {
		t.Error("the restore has left a secret")
	}
	config.EncryptionProviderConfig = write(t, t.TempDir(), "e.yaml", encryptionConfig("secrets", provider("secretbox", "second")))
	config.Snapshot = snapshot
	other := startEncrypted(t, config)
	if got := string(other.secret("kept").Data["password"]); got != "swordfish" {
		t.Errorf("the copy is %q", got)
	}
	other.expectPrefix("/secrets/default/kept", "k8s:enc:secretbox:v1:second:")
	check(t, s.CoreV1().Secrets("default").Delete(t.Context(), "kept", metav1.DeleteOptions{}))
	check(t, s.Restore(t.Context(), snapshot))
	s.expectPrefix("/secrets/default/kept", "k8s:enc:aesgcm:v1:first:")
}
