package bootstrap

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
)

var update = flag.Bool("update", false, "write objects-RELEASE.pb.gz from testdata/recorded-RELEASE.json")

// recordedConfig returns the config of the recorded server.
func recordedConfig() Config {
	return Config{
		Port:      35145,
		Advertise: netip.MustParseAddr("192.0.2.2"),
		Now:       func() time.Time { return time.Date(2026, 11, 20, 9, 33, 22, 0, time.UTC) },
	}
}

func TestFullMatchesKubeAPIServer(t *testing.T) {
	for release := feature.Oldest; release <= feature.Latest; release++ {
		t.Run(release.String(), func(t *testing.T) {
			recorded := readRecorded(t, release)
			if *update {
				if err := os.WriteFile(preparedFile(release), pack(t, recorded), 0o644); err != nil {
					t.Fatal(err)
				}
				return // the test program still embeds the previous file
			}
			config := recordedConfig()
			config.Release = release
			objects, err := Objects(Full, config)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, recorded, objects)
		})
	}
}

func TestMinimal(t *testing.T) {
	recorded := readRecorded(t, feature.Latest)
	for key := range recorded {
		if !strings.HasPrefix(key, "/namespaces/") && key != "/services/specs/default/kubernetes" && key != "/ipaddresses/10.0.0.1" {
			delete(recorded, key)
		}
	}
	objects, err := Objects(Minimal, recordedConfig())
	if err != nil {
		t.Fatal(err)
	}
	compare(t, recorded, objects)
}

func TestObjectsHaveNewUIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		objects, err := Objects(Full, Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			obj, err := decodeAny(o)
			if err != nil {
				t.Fatal(err)
			}
			accessor, err := meta.Accessor(obj)
			if err != nil {
				t.Fatal(err)
			}
			if uid := string(accessor.GetUID()); uid == "" || seen[uid] {
				t.Errorf("%s: uid %q is not new", o.Key, uid)
			}
			seen[string(accessor.GetUID())] = true
			if created := accessor.GetCreationTimestamp(); created.IsZero() {
				t.Errorf("%s has no creation time", o.Key)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	cases := []struct {
		name    string
		config  Config
		address string
		absent  []string // keys
	}{
		{"the default range is 10.0.0.0/24", Config{}, "10.0.0.1", []string{"/services/endpoints/default/kubernetes", "/endpointslices/default/kubernetes"}},
		{"the network address is not used", Config{ServiceRanges: []netip.Prefix{netip.MustParsePrefix("172.20.16.9/20")}}, "172.20.16.1", nil},
		{"the first range is the primary range", Config{ServiceRanges: []netip.Prefix{netip.MustParsePrefix("fd00::/108"), netip.MustParsePrefix("10.0.0.0/24")}}, "fd00::1", nil},
		{"a loopback address has no endpoints", Config{Advertise: netip.MustParseAddr("127.0.0.1")}, "10.0.0.1", []string{"/services/endpoints/default/kubernetes", "/endpointslices/default/kubernetes"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			objects, err := Objects(Full, c.config)
			if err != nil {
				t.Fatal(err)
			}
			has := func(key string) bool {
				return slices.ContainsFunc(objects, func(o Object) bool { return o.Key == key })
			}
			if !has("/ipaddresses/" + c.address) {
				t.Errorf("IPAddress %s is missing", c.address)
			}
			for _, key := range c.absent {
				if has(key) {
					t.Errorf("%s exists", key)
				}
			}
		})
	}
}

func TestInvalidArguments(t *testing.T) {
	cases := map[string]struct {
		mode   Mode
		config Config
	}{
		"an unknown mode":        {mode: "some"},
		"a range of one address": {mode: Minimal, config: Config{ServiceRanges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/32")}}},
		"the zero range":         {mode: Minimal, config: Config{ServiceRanges: []netip.Prefix{{}}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if objects, err := Objects(c.mode, c.config); err == nil {
				t.Errorf("got %d objects, want an error", len(objects))
			}
		})
	}
}

func BenchmarkMinimal(b *testing.B) {
	for b.Loop() {
		if _, err := Objects(Minimal, Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFull(b *testing.B) {
	for b.Loop() {
		if _, err := Objects(Full, Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

// compare compares objects with want, by key, except for UIDs and times.
func compare(t *testing.T, want map[string]runtime.Object, objects []Object) {
	t.Helper()
	got := map[string]runtime.Object{}
	for _, o := range objects {
		obj, err := decodeAny(o)
		if err != nil {
			t.Fatalf("%s: %v", o.Key, err)
		}
		if _, twice := got[o.Key]; twice {
			t.Errorf("%s exists twice", o.Key)
		}
		got[o.Key] = obj
	}
	generated := cmpopts.IgnoreFields(metav1.ObjectMeta{}, "UID", "CreationTimestamp", "ResourceVersion")
	if diff := cmp.Diff(want, got, generated, cmpopts.IgnoreTypes(metav1.Time{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("objects (-recorded +created):\n%s", diff)
	}
}

// decodeAny decodes an object with the codec of its key, as the server does.
func decodeAny(o Object) (runtime.Object, error) {
	for _, r := range storedResources() {
		if strings.HasPrefix(o.Key, "/"+r.StoragePath+"/") {
			return r.Codec.Decode(o.Value)
		}
	}
	return nil, os.ErrNotExist
}

// readRecorded returns the recorded objects by their keys.
func readRecorded(t *testing.T, release feature.Release) map[string]runtime.Object {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("testdata/recorded-%s.json", release))
	if err != nil {
		t.Fatal(err)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		t.Fatal(err)
	}
	objects := map[string]runtime.Object{}
	c := &collector{}
	for _, item := range items {
		var head metav1.TypeMeta
		if err := json.Unmarshal(item, &head); err != nil {
			t.Fatal(err)
		}
		obj, err := kinds.Scheme().New(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(item, obj); err != nil {
			t.Fatal(err)
		}
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		object, err := c.encode(obj)
		if err != nil {
			t.Fatal(err)
		}
		objects[object.Key] = obj
	}
	return objects
}

func TestAccessRoles(t *testing.T) {
	minimal, err := Objects(Minimal, Config{})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(Minimal, Config{AccessRoles: true})
	if err != nil {
		t.Fatal(err)
	}
	recorded := readRecorded(t, feature.Latest)
	want := map[string]runtime.Object{}
	for _, name := range []string{"cluster-admin", "admin", "edit", "view",
		"system:aggregate-to-admin", "system:aggregate-to-edit", "system:aggregate-to-view",
		"system:basic-user", "system:discovery", "system:public-info-viewer",
		"system:service-account-issuer-discovery", "system:cluster-trust-bundle-discovery", "system:auth-delegator",
		"system:kube-controller-manager", "system:kube-scheduler", "system:volume-scheduler", "system:controller:namespace-controller"} {
		want["/clusterroles/"+name] = recorded["/clusterroles/"+name]
	}
	for _, name := range []string{"cluster-admin", "system:basic-user", "system:discovery", "system:public-info-viewer", "system:service-account-issuer-discovery",
		"system:cluster-trust-bundle-discovery", "system:kube-controller-manager", "system:kube-scheduler", "system:volume-scheduler", "system:controller:namespace-controller"} {
		want["/clusterrolebindings/"+name] = recorded["/clusterrolebindings/"+name]
	}
	for _, key := range []string{
		"/roles/kube-system/extension-apiserver-authentication-reader",
		"/roles/kube-system/system::leader-locking-kube-controller-manager",
		"/roles/kube-system/system::leader-locking-kube-scheduler",
		"/rolebindings/kube-system/system::extension-apiserver-authentication-reader",
		"/rolebindings/kube-system/system::leader-locking-kube-controller-manager",
		"/rolebindings/kube-system/system::leader-locking-kube-scheduler",
	} {
		want[key] = recorded[key]
	}
	compare(t, want, objects[len(minimal):])
	second, err := Objects(Minimal, Config{AccessRoles: true})
	if err != nil || string(second[len(minimal)].Value) == string(objects[len(minimal)].Value) {
		t.Errorf("two servers got the same UID (%v)", err)
	}
}

func BenchmarkAccessRoles(b *testing.B) {
	for b.Loop() {
		if _, err := Objects(Minimal, Config{AccessRoles: true}); err != nil {
			b.Fatal(err)
		}
	}
}
