package versioner_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/versioner"
)

var v versioner.APIObjectVersioner

// objects returns an object of each kind of type with ObjectMeta.
func objects() map[string]runtime.Object {
	return map[string]runtime.Object{
		"typed":         &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		"unstructured":  &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}},
		"metadata only": &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
	}
}

// lists returns a list of each kind of type with ListMeta.
func lists() map[string]runtime.Object {
	return map[string]runtime.Object{
		"typed":         &corev1.PodList{},
		"unstructured":  &unstructured.UnstructuredList{Object: map[string]any{}},
		"metadata only": &metav1.PartialObjectMetadataList{},
		"table":         &metav1.Table{},
	}
}

func TestUpdateObjectStampsAndClears(t *testing.T) {
	for name, obj := range objects() {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				revision int64
				want     string
			}{{7, "7"}, {math.MaxInt64, "9223372036854775807"}, {0, ""}} {
				if err := v.UpdateObject(obj, c.revision); err != nil {
					t.Fatal(err)
				}
				accessor, _ := meta.Accessor(obj)
				if got := accessor.GetResourceVersion(); got != c.want {
					t.Errorf("revision %d is stamped as %q, want %q", c.revision, got, c.want)
				}
				if got, err := v.ObjectResourceVersion(obj); err != nil || got != c.revision {
					t.Errorf("revision %d is read back as %d (%v)", c.revision, got, err)
				}
			}
		})
	}
}

func TestUpdateObjectRejectsNegativeRevisions(t *testing.T) {
	pod := &corev1.Pod{}
	if err := v.UpdateObject(pod, -1); err == nil || pod.ResourceVersion != "" {
		t.Errorf("revision -1: %v, stamped as %q", err, pod.ResourceVersion)
	}
}

func TestClearedVersionLeavesNoField(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "resourceVersion": "5", "selfLink": "/somewhere"},
	}}
	if err := v.PrepareObjectForStorage(obj); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"metadata": map[string]any{"name": "a"}}
	if diff := cmp.Diff(want, obj.Object); diff != "" {
		t.Errorf("prepared for storage (-want +got):\n%s", diff)
	}
}

func TestPrepareObjectForStorageRemovesVersionAndSelfLink(t *testing.T) {
	for name, obj := range objects() {
		t.Run(name, func(t *testing.T) {
			accessor, _ := meta.Accessor(obj)
			accessor.SetResourceVersion("5")
			accessor.SetSelfLink("/somewhere")
			if err := v.PrepareObjectForStorage(obj); err != nil {
				t.Fatal(err)
			}
			if accessor.GetResourceVersion() != "" || accessor.GetSelfLink() != "" || accessor.GetName() != "a" {
				t.Errorf("prepared for storage: %+v", obj)
			}
		})
	}
}

func TestUpdateListSetsListMeta(t *testing.T) {
	three := int64(3)
	for name, list := range lists() {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				token     string
				remaining *int64
			}{{"token", &three}, {"token", nil}, {"", nil}} {
				if err := v.UpdateList(list, 42, c.token, c.remaining); err != nil {
					t.Fatal(err)
				}
				accessor, _ := meta.ListAccessor(list)
				if accessor.GetResourceVersion() != "42" || accessor.GetContinue() != c.token {
					t.Errorf("resourceVersion %q, continue %q", accessor.GetResourceVersion(), accessor.GetContinue())
				}
				if diff := cmp.Diff(c.remaining, accessor.GetRemainingItemCount()); diff != "" {
					t.Errorf("remaining (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestUpdateListRejectsRevisionZero(t *testing.T) {
	for _, revision := range []int64{0, -1} {
		if err := v.UpdateList(&corev1.PodList{}, revision, "", nil); err == nil {
			t.Errorf("a list was stamped with revision %d", revision)
		}
	}
}

func TestObjectsWithoutMetadataAreRejected(t *testing.T) {
	list, unknown := &corev1.PodList{}, &runtime.Unknown{}
	for _, obj := range []runtime.Object{list, unknown} {
		if err := v.UpdateObject(obj, 1); err == nil {
			t.Errorf("UpdateObject accepts a %T", obj)
		}
		if err := v.PrepareObjectForStorage(obj); err == nil {
			t.Errorf("PrepareObjectForStorage accepts a %T", obj)
		}
		if _, err := v.ObjectResourceVersion(obj); err == nil {
			t.Errorf("ObjectResourceVersion accepts a %T", obj)
		}
	}
	if err := v.UpdateList(unknown, 1, "", nil); err == nil {
		t.Errorf("UpdateList accepts a %T", unknown)
	}
}

func TestObjectResourceVersionRejectsMalformedVersions(t *testing.T) {
	for name, obj := range objects() {
		t.Run(name, func(t *testing.T) {
			accessor, _ := meta.Accessor(obj)
			accessor.SetResourceVersion("five")
			if got, err := v.ObjectResourceVersion(obj); !errors.Is(err, versioner.ErrInvalidVersion) || got != 0 {
				t.Errorf("version is %d (%v), want %v", got, err, versioner.ErrInvalidVersion)
			}
		})
	}
}

func TestParseResourceVersion(t *testing.T) {
	cases := []struct {
		name, version string
		want          int64
		message       string // "" for none
	}{
		{"unset", "", 0, ""},
		{"zero", "0", 0, ""},
		{"a revision", "1354", 1354, ""},
		{"leading zeros", "007", 7, ""},
		{"the greatest revision", "9223372036854775807", math.MaxInt64, ""},
		{"no number", "abc", 0, `strconv.ParseUint: parsing "abc": invalid syntax`},
		{"negative", "-1", 0, `strconv.ParseUint: parsing "-1": invalid syntax`},
		{"signed", "+1", 0, `strconv.ParseUint: parsing "+1": invalid syntax`},
		{"a fraction", "1.5", 0, `strconv.ParseUint: parsing "1.5": invalid syntax`},
		{"space around", " 1", 0, `strconv.ParseUint: parsing " 1": invalid syntax`},
		{"hexadecimal", "0x10", 0, `strconv.ParseUint: parsing "0x10": invalid syntax`},
		{"beyond etcd's revisions", "9223372036854775808", 0, `strconv.ParseUint: parsing "9223372036854775808": value out of range`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := v.ParseResourceVersion(c.version)
			if got != c.want {
				t.Errorf("%q is %d, want %d", c.version, got, c.want)
			}
			if c.message == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			want := fmt.Sprintf("invalid resource version: resourceVersion: Invalid value: %q: %s", c.version, c.message)
			if !errors.Is(err, versioner.ErrInvalidVersion) || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
		})
	}
}

func FuzzParseResourceVersion(f *testing.F) {
	for _, seed := range []string{"", "0", "1", "-1", "+1", "9223372036854775807", "9223372036854775808", "1e3", "0x1", "１"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, version string) {
		revision, err := v.ParseResourceVersion(version)
		switch {
		case err != nil && !errors.Is(err, versioner.ErrInvalidVersion):
			t.Errorf("%q: %v is not %v", version, err, versioner.ErrInvalidVersion)
		case err != nil && revision != 0:
			t.Errorf("%q is %d and an error", version, revision)
		case revision < 0:
			t.Errorf("%q is %d", version, revision)
		case err == nil && version != "":
			if again, err := strconv.ParseInt(version, 10, 64); err != nil || again != revision {
				t.Errorf("%q is %d, but %d (%v) as a number", version, revision, again, err)
			}
		}
	})
}
