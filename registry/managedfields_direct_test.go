package registry_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/memory"
)

// plainTexts are texts that JSON does not escape. Their order differs from the order in which they
// begin with each other in JSON.
var plainTexts = func() (texts []string) {
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("%d", i), fmt.Sprintf("%d!", i), fmt.Sprintf("a.b/%d", i), fmt.Sprintf("%d ~", i), fmt.Sprintf("A-%d", i))
	}
	return texts
}()

// builtIn returns the stores of all built-in resources, whose objects are in memory.
func builtIn(t testing.TB) *registry.Snapshot {
	t.Helper()
	return inMemory(t, kinds.Resources(feature.Default())...)
}

// storeOf returns the store of a resource, whose objects are in memory.
func storeOf(t testing.TB, r *registry.Resource) *registry.Store {
	t.Helper()
	store, ok := inMemory(t, r).Store(r.GroupResource())
	if !ok {
		t.Fatalf("no store of %s", r.GroupResource())
	}
	return store
}

func inMemory(t testing.TB, resources ...*registry.Resource) *registry.Snapshot {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{
		Types:   kinds.Types(),
		Storage: func(codec storage.Codec) storage.Interface { return memory.New(memory.Config{Codec: codec}) },
	})
	if err := catalog.Add(resources...); err != nil {
		t.Fatal(err)
	}
	return catalog.Snapshot()
}

// tally counts comparisons.
type tally struct{ supported, unsupported, invalid int }

// check compares both ways to compute the managed fields of a write, and sets them on obj with a
// time. It reports whether the write is valid.
func (n *tally) check(t *testing.T, store *registry.Store, live, obj runtime.Object, manager, subresource string, at time.Time) bool {
	t.Helper()
	before := slices.Clone(registrytest.Meta(obj).GetManagedFields())
	library, direct, supported, err := store.ManagedFields(live, obj, manager, subresource)
	if err != nil && supported {
		t.Errorf("%T: supported, but not by package managedfields: %v", obj, err)
	}
	switch {
	case err != nil:
		n.invalid++
	case !supported:
		n.unsupported++
	default:
		n.supported++
		// An unstructured object sorts the FieldsV1 by their text.
		shown := obj.DeepCopyObject()
		registrytest.Meta(shown).SetManagedFields(direct)
		direct = registrytest.Meta(shown).GetManagedFields()
		for _, entries := range [][]metav1.ManagedFieldsEntry{library, direct} {
			stamp(entries, before, at)
		}
		if diff := cmp.Diff(library, direct); diff != "" {
			t.Errorf("%T: %s %s: managed fields (-library +direct):\n%s\nbefore: %s", obj, manager, subresource, diff, describe(before))
			return false
		}
	}
	stamp(library, before, at)
	registrytest.Meta(obj).SetManagedFields(library)
	if err == nil && live != nil {
		checkChangedFields(t, store, live, obj)
	}
	return err == nil
}

// checkChangedFields compares both ways to compute the changed fields. Some random objects are
// invalid for both, such as a list whose elements lack their key.
func checkChangedFields(t *testing.T, store *registry.Store, live, obj runtime.Object) {
	t.Helper()
	library, supported, err := store.LibraryChangedFields(live, obj)
	direct, directErr := store.ChangedFields("", live, obj)
	if err != nil && directErr != nil && err.Error() == directErr.Error() {
		return
	}
	if err != nil || directErr != nil {
		t.Errorf("%T: changed fields: library: %v; direct: %v", obj, err, directErr)
		return
	}
	if supported && !library.Equals(direct) {
		t.Errorf("%T: changed fields:\nlibrary: %v\ndirect: %v", obj, library, direct)
	}
}

// stamp sets the times of the entries that a write has set.
func stamp(entries, before []metav1.ManagedFieldsEntry, at time.Time) {
	for i := range entries {
		kept := func(e metav1.ManagedFieldsEntry) bool {
			return e.Time == entries[i].Time || e.Time.Equal(entries[i].Time)
		}
		if !slices.ContainsFunc(before, kept) {
			entries[i].Time = &metav1.Time{Time: at}
		}
	}
}

func describe(entries []metav1.ManagedFieldsEntry) string {
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "\n%s %s %s %s", e.Manager, e.Operation, e.Subresource, e.FieldsV1.GetRawString())
	}
	return b.String()
}

// history checks a create and updates by several managers.
func (n *tally) history(t *testing.T, store *registry.Store, f *filler, newObject func() runtime.Object) {
	t.Helper()
	now := time.Unix(1_000_000_000, 0).UTC()
	live := newObject()
	f.change = []float64{0.1, 0.4, 0.8}[f.IntN(3)]
	f.texts = [][]string{plainTexts, plainTexts, {"", "a", "b", "<é>", `"`}}[f.IntN(3)]
	f.fill(reflect.ValueOf(live).Elem(), 7)
	if !n.check(t, store, nil, live, "one", "", now) {
		return
	}
	for i := range 6 {
		registrytest.Meta(live).SetUID("u")
		next := live.DeepCopyObject()
		f.change = []float64{0.002, 0.02, 0.2}[f.IntN(3)]
		f.fill(reflect.ValueOf(next).Elem(), 7)
		if f.IntN(4) == 0 {
			registrytest.Meta(next).SetManagedFields(nil)
		}
		manager := []string{"one", "two", "three"}[f.IntN(3)]
		subresource := []string{"", "", "status"}[f.IntN(3)]
		if !n.check(t, store, live, next, manager, subresource, now.Add(time.Duration(i+1)*time.Minute)) || t.Failed() {
			return
		}
		live = next
	}
}

// Managed fields that are computed directly equal the managed fields of package managedfields, for
// random objects of all built-in kinds.
func TestManagedFieldsOfRandomObjectsEqualTheLibrary(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := &filler{Rand: rand.New(rand.NewPCG(seed, 0)), texts: plainTexts}
	stores := builtIn(t)
	var n tally
	for _, r := range kinds.Resources(feature.Default()) {
		store, ok := stores.Store(schema.GroupResource{Group: r.Group, Resource: r.Name})
		if !ok || r.Versions[0].FromHub != nil {
			continue
		}
		for range 10 {
			n.history(t, store, f, r.Versions[0].New)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", n)
	if n.supported < 1000 {
		t.Errorf("most objects are not supported: %+v", n)
	}
}

// BenchmarkManagedFields compares both ways to compute managed fields.
func BenchmarkManagedFields(b *testing.B) {
	stores := builtIn(b)
	for _, c := range []struct {
		resource string
		obj      runtime.Object
		change   func(obj runtime.Object)
	}{
		{"configmaps", benchmarkConfigMap("demo", "1"), func(obj runtime.Object) { obj.(*corev1.ConfigMap).Data["version"] = "2" }},
		{"pods", benchmarkPod(), func(obj runtime.Object) { obj.(*corev1.Pod).Labels = map[string]string{"app": "next"} }},
	} {
		store, _ := stores.Store(schema.GroupResource{Resource: c.resource})
		live := c.obj.DeepCopyObject()
		if err := store.UpdateManagedFields(nil, live, "one", false); err != nil {
			b.Fatal(err)
		}
		registrytest.Meta(live).SetUID("u")
		next := live.DeepCopyObject()
		c.change(next)
		managed := registrytest.Meta(next).GetManagedFields()
		for _, direct := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/create/direct=%t", c.resource, direct), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					registrytest.Meta(c.obj).SetManagedFields(nil)
					if err := store.UpdateManagedFields(nil, c.obj, "one", direct); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/update/direct=%t", c.resource, direct), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					registrytest.Meta(next).SetManagedFields(managed)
					if err := store.UpdateManagedFields(live, next, "one", direct); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func benchmarkPod() *corev1.Pod {
	container := corev1.Container{
		Name: "web", Image: "nginx", Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
		Env:          []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
		}},
		TerminationMessagePath: "/dev/termination-log", ImagePullPolicy: corev1.PullAlways,
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: map[string]string{"app": "demo"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{container}, RestartPolicy: corev1.RestartPolicyAlways,
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
}
