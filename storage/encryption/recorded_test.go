package encryption

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// recorded is a value that kube-apiserver has stored.
type recorded struct {
	Key   string
	Value []byte
}

func readRecorded(t *testing.T) map[string]recorded {
	t.Helper()
	file, err := os.Open("testdata/kube-apiserver-v1.37.1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	values := map[string]recorded{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var value recorded
		if err := json.Unmarshal(lines.Bytes(), &value); err != nil {
			t.Fatal(err)
		}
		values[value.Key] = value
	}
	return values
}

// recordedConfig returns the configuration of the recording, with the socket of a plugin.
func recordedConfig(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("testdata/recorded.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := socket(t)
	startPlugin(t, path, "key-1")
	return strings.ReplaceAll(string(content), "SOCKET", path)
}

// Values of kube-apiserver v1.37.1 are decrypted with all providers, and are not stale, because the
// first provider has written them. The key of a value is authenticated where the provider does so.
func TestRecordedValues(t *testing.T) {
	e := open(t, recordedConfig(t))
	values := readRecorded(t)
	for key, tc := range map[string]struct {
		prefix, content string
		authenticated   bool
	}{
		"/registry/secrets/default/sample":                                             {"k8s:enc:aescbc:v1:key1:", "swordfish", false},
		"/registry/configmaps/default/sample":                                          {"k8s:enc:aesgcm:v1:key1:", "blue", true},
		"/registry/deployments/default/sample":                                         {"k8s:enc:secretbox:v1:key1:", "Recreate|RollingUpdate", false},
		"/registry/services/specs/default/sample":                                      {"k8s:enc:aesgcm:v1:rest:", "ClusterIP", true},
		"/registry/example.com/widgets/default/sample":                                 {"k8s:enc:kms:v2:plugin:", `"size":3`, true},
		"/registry/events/default/sample":                                              {"k8s:enc:kms:v2:plugin:", "Sampled", true},
		"/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com": {"k8s:enc:aesgcm:v1:rest:", `"singular":"widget"`, true},
		"/registry/ranges/servicenodeports":                                            {"k8s\x00", "RangeAllocation", false},
	} {
		value := values[key].Value
		if !bytes.HasPrefix(value, []byte(tc.prefix)) {
			t.Fatalf("%s: the recording has no value with the prefix %s", key, tc.prefix)
		}
		data, stale, err := e.FromStorage(t.Context(), value, key)
		if err != nil || stale || !containsAny(string(data), strings.Split(tc.content, "|")) {
			t.Errorf("%s: got %q, stale %v, error %v", key, data, stale, err)
		}
		_, _, err = e.FromStorage(t.Context(), value, key+"-moved")
		if (err != nil) != tc.authenticated {
			t.Errorf("%s: a moved value has the error %v", key, err)
		}
		again := e.mustEncrypt(t, key, string(data))
		if !strings.HasPrefix(again, tc.prefix) {
			t.Errorf("%s: the value is written as %.40q", key, again)
		}
		e.expect(t, key, again, string(data), false)
	}
}

func containsAny(s string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// The seed of a KMS provider is decrypted once for all values that it has encrypted.
func TestKMSSeedIsDecryptedOnce(t *testing.T) {
	path := socket(t)
	plugin := startPlugin(t, path, "key-1")
	content := configuration("secrets", kms("plugin", path))
	first, second := open(t, content), open(t, content)
	for _, key := range []string{"/registry/secrets/default/a", "/registry/secrets/default/b"} {
		second.expect(t, key, first.mustEncrypt(t, key, "value"), "value", false)
	}
	if n := plugin.Decrypts(); n != 1 {
		t.Errorf("%d decryptions instead of 1", n)
	}
}
