package kinds_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// storedKey is the key and the encoding of an object of kube-apiserver.
type storedKey struct{ Key, Encoding, Stored string }

func keyOf(t testing.TB, r *registry.Resource, obj runtime.Object) string {
	t.Helper()
	accessor, err := meta.Accessor(obj)
	if err != nil {
		t.Fatal(err)
	}
	parts := []string{"/registry", r.StoragePath}
	if r.Namespaced {
		parts = append(parts, accessor.GetNamespace())
	}
	return strings.Join(append(parts, accessor.GetName()), "/")
}

func TestStoredObjectsRoundTrip(t *testing.T) {
	for _, c := range creations(t) {
		version, r, obj, hub := c.object(t)
		t.Run(r.GroupResource().String()+"/"+version.Name, func(t *testing.T) {
			before := hub.DeepCopyObject()
			data, err := r.Codec.Encode(hub)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(before, hub); diff != "" {
				t.Errorf("Encode changed the object:\n%s", diff)
			}
			decoded, err := r.Codec.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if version.FromHub != nil {
				if decoded, err = version.FromHub(decoded); err != nil {
					t.Fatal(err)
				}
			}
			if !equality.Semantic.DeepEqual(obj, decoded) {
				t.Errorf("after a rest (-before +after):\n%s", gocmp.Diff(obj, decoded))
			}
		})
	}
}

func TestKeysAndEncodingsMatchKubeAPIServer(t *testing.T) {
	recorded := map[string]storedKey{}
	for _, k := range load[[]storedKey](t, "etcd-keys.json") {
		recorded[k.Key] = k
	}
	for _, c := range creations(t) {
		_, r, _, hub := c.object(t)
		want, ok := recorded[keyOf(t, r, hub)]
		if !ok {
			t.Errorf("%s: nothing was recorded under %s", c.Path, keyOf(t, r, hub))
			continue
		}
		data, err := r.Codec.Encode(hub)
		if err != nil {
			t.Errorf("%s: %v", c.Path, err)
			continue
		}
		if got := describeValue(t, want.Key, data); got != want {
			t.Errorf("%s: stored as %+v, want %+v", c.Path, got, want)
		}
	}
}

// describeValue returns the type and the encoding of a value.
func describeValue(t testing.TB, key string, data []byte) storedKey {
	t.Helper()
	var head runtime.TypeMeta
	encoding := "json"
	if rest, ok := bytes.CutPrefix(data, []byte("k8s\x00")); ok {
		encoding = "protobuf"
		var unknown runtime.Unknown
		if err := unknown.Unmarshal(rest); err != nil {
			t.Fatal(err)
		}
		head = unknown.TypeMeta
	} else if err := json.Unmarshal(data, &head); err != nil {
		t.Fatal(err)
	}
	return storedKey{Key: key, Encoding: encoding, Stored: head.APIVersion + " " + head.Kind}
}

func TestValuesOfKubeAPIServerRoundTripByteForByte(t *testing.T) {
	for key, data := range values(t) {
		t.Run(strings.TrimPrefix(key, "/registry/"), func(t *testing.T) {
			r := resourceOfKey(t, key, data)
			obj, err := r.Codec.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if got := keyOf(t, r, obj); got != key {
				t.Errorf("the object belongs under %s", got)
			}
			switch obj := obj.(type) { // set by reading
			case *corev1.PersistentVolumeClaim:
				obj.Status.Phase = ""
			case *batchv1.Job:
				obj.Labels = nil
			}
			again, err := r.Codec.Encode(obj)
			if err != nil {
				t.Fatal(err)
			}
			if r.Kind == "CSINode" {
				data = withEmptyStatus(t, data)
			}
			if diff := gocmp.Diff(string(data), string(again)); diff != "" {
				t.Errorf("encoded (-kube-apiserver +ours):\n%s", diff)
			}
		})
	}
}

// withEmptyStatus adds the status that a CSINode has since v1.37.
func withEmptyStatus(t testing.TB, data []byte) []byte {
	t.Helper()
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(data[len("k8s\x00"):]); err != nil {
		t.Fatal(err)
	}
	unknown.Raw = append(unknown.Raw, 0x1a, 0)
	message, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), message...)
}

// resourceOfKey finds the resource by the group and kind in the value.
func resourceOfKey(t testing.TB, key string, data []byte) *registry.Resource {
	t.Helper()
	apiVersion, kind, _ := strings.Cut(describeValue(t, key, data).Stored, " ")
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group = ""
	}
	return findKind(t, group, kind)
}
