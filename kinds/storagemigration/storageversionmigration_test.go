package storagemigration

import (
	"testing"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

type migration = storagemigrationv1.StorageVersionMigration

func newMigration() *migration {
	return &migration{Spec: storagemigrationv1.StorageVersionMigrationSpec{
		Resource: metav1.GroupResource{Group: "apps", Resource: "deployments"},
	}}
}

func with(revision string, conditions ...storagemigrationv1.MigrationConditionType) *migration {
	m := newMigration()
	m.Status.ResourceVersion = revision
	for _, name := range conditions {
		m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{
			Type: string(name), Status: metav1.ConditionTrue, Reason: "R", LastTransitionTime: metav1.Now(),
		})
	}
	return m
}

func TestMigrations(t *testing.T) {
	check := registrytest.Rules(t, newMigration, validateMigration)
	check("the core group has no name", func(m *migration) { m.Spec.Resource.Group = "" })
	check("a resource is required", func(m *migration) { m.Spec.Resource.Resource = "" },
		"spec.resource.resource: Required value: resource is required to be set")
	check("the group is a domain", func(m *migration) { m.Spec.Resource.Group = "A" }, registrytest.Texts(
		joined(field.NewPath("spec", "resource", "group"), "A", func(string) []string {
			return []string{"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
				"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
				"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}
		}))...)
	updated := registrytest.Rules(t, newMigration, func(m *migration) field.ErrorList { return validateMigrationUpdate(m, newMigration()) })
	updated("the spec is immutable", func(m *migration) { m.Spec.Resource.Resource = "pods" },
		`spec: Invalid value: {"Resource":{"group":"apps","resource":"pods"}}: field is immutable`)
	if storageVersionMigrations(feature.At(36)) != nil {
		t.Error("1.36 serves the kind")
	}
}

func TestMigrationStatus(t *testing.T) {
	running, succeeded, failed := storagemigrationv1.MigrationRunning, storagemigrationv1.MigrationSucceeded, storagemigrationv1.MigrationFailed
	for _, tc := range []struct {
		rule     string
		now, old *migration
		want     []string // details
	}{
		{"the migration starts", with("5", running), newMigration(), nil},
		{"and succeeds", with("5", succeeded), with("5", running), nil},
		{"the resourceVersion is a number", with("x"), newMigration(), []string{"resource version is not well formed: x"}},
		{"the resourceVersion is immutable", with("6"), with("5"), []string{"field is immutable"}},
		{"it does not succeed and fail", with("5", succeeded, failed), with("5"),
			[]string{"Both success and failed conditions cannot be true at the same time"}},
		{"success is final", with("5", running), with("5", succeeded), []string{"Success condition cannot be set to false once it is true"}},
		{"failure is final", with("5", running), with("5", failed), []string{"Failed condition cannot be set to false once it is true"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			var got []string
			for _, err := range validateMigrationStatus(tc.now, tc.old) {
				got = append(got, err.Detail)
			}
			if len(got) != len(tc.want) || len(got) == 1 && got[0] != tc.want[0] {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMigrationCells(t *testing.T) {
	m := with("5", storagemigrationv1.MigrationRunning)
	m.Name = "m"
	cells := registrytest.Cells(storageVersionMigrations(feature.Default()), m)
	if want := [3]any{"m", "deployments.apps", string(storagemigrationv1.MigrationRunning)}; [3]any(cells) != want {
		t.Errorf("cells %v", cells)
	}
	if got := state(newMigration()); got != "Unknown" {
		t.Errorf("a new migration is %s", got)
	}
}
