package kinds_test

import (
	"slices"
	"testing"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func resourceNamed(t *testing.T, name string) *registry.Resource {
	t.Helper()
	all := kinds.Resources(feature.Default())
	i := slices.IndexFunc(all, func(r *registry.Resource) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("there is no resource %s", name)
	}
	return all[i]
}

// The texts are copied from kube-apiserver, which has different texts for each kind.
func TestUnsupportedFieldLabels(t *testing.T) {
	for _, c := range []struct{ resource, label, want string }{
		{"pods", "spec.x", "field label not supported: spec.x"},
		{"nodes", "metadata.namespace", "field label not supported: metadata.namespace"},
		{"namespaces", "metadata.namespace", "field label not supported: metadata.namespace"},
		{"certificatesigningrequests", "metadata.namespace", "field label not supported: metadata.namespace"},
		{"jobs", "spec.x", `field label "spec.x" not supported for Job`},
		{"resourceslices", "spec.x", "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x"},
	} {
		_, _, err := resourceNamed(t, c.resource).Versions[0].FieldLabel(c.label, "v")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s by %s: got %v, want %s", c.resource, c.label, err, c.want)
		}
	}
}

func TestReplicaSetsAreSelectedByNameOnly(t *testing.T) {
	if r := resourceNamed(t, "replicasets"); r.Versions[0].FieldLabel != nil || r.Fields != nil {
		t.Error("replicasets have fields of their own, which they have in kube-apiserver neither")
	}
}
