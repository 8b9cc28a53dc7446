package kind_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func budgets() kind.Definition[*policyv1.PodDisruptionBudget] {
	return kind.Definition[*policyv1.PodDisruptionBudget]{
		GroupVersion: policyv1.SchemeGroupVersion,
		Object:       &policyv1.PodDisruptionBudget{},
		List:         &policyv1.PodDisruptionBudgetList{},
		Resource:     "poddisruptionbudgets",
		Generation:   true,
		Status:       true,
	}
}

func budget(generation int64, labels string, available int32) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: available}}
	b.Generation = generation
	b.Labels = map[string]string{"l": labels}
	return b
}

func TestBuildDefaults(t *testing.T) {
	r := budgets().Build(feature.Default())
	if r.Kind != "PodDisruptionBudget" || r.Singular != "poddisruptionbudget" || r.StoragePath != "poddisruptionbudgets" || len(r.Verbs) != 8 {
		t.Errorf("kind %s, singular %s, path %s, verbs %v", r.Kind, r.Singular, r.StoragePath, r.Verbs)
	}
	if status, ok := r.Subresource("status"); !ok || status.Kind.Kind != r.Kind {
		t.Errorf("status: %+v", status)
	}
	if _, ok := r.Versions[0].New().(*policyv1.PodDisruptionBudget); !ok {
		t.Errorf("New returns a %T", r.Versions[0].New())
	}
	if r.Versions[0].New() == r.Versions[0].New() {
		t.Error("New returned the same object twice")
	}
	if errs := r.Strategy.Create.ValidateName("Bad_Name", false); len(errs) == 0 {
		t.Error("a bad name was taken")
	}
}

func TestDefaultPreparations(t *testing.T) {
	r := budgets().Build(feature.Default())
	status, _ := r.Subresource("status")

	created := budget(7, "a", 3)
	r.Strategy.Create.Prepare(t.Context(), created)
	if diff := cmp.Diff(budget(1, "a", 0), created); diff != "" {
		t.Errorf("create (-want +got):\n%s", diff)
	}

	updated := budget(99, "b", 9)
	r.Strategy.Update.Prepare(t.Context(), updated, budget(4, "a", 3))
	if diff := cmp.Diff(budget(4, "b", 3), updated); diff != "" {
		t.Errorf("update of the labels (-want +got):\n%s", diff)
	}

	updated.Spec.Selector = &metav1.LabelSelector{}
	r.Strategy.Update.Prepare(t.Context(), updated, budget(4, "a", 3))
	if updated.Generation != 5 {
		t.Errorf("update of the spec: generation %d, want 5", updated.Generation)
	}

	written := budget(99, "b", 9)
	written.Spec.Selector = &metav1.LabelSelector{}
	status.Update.Prepare(t.Context(), written, budget(4, "a", 3))
	if diff := cmp.Diff(budget(4, "b", 9), written); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestPrepareFunctionsRunAfterTheDefaults(t *testing.T) {
	d := budgets()
	d.PrepareForCreate = func(_ context.Context, b *policyv1.PodDisruptionBudget) { b.Status.ExpectedPods = 1 }
	// A field that the kind restores is not a change.
	d.PrepareForUpdate = func(_ context.Context, b, old *policyv1.PodDisruptionBudget) { b.Spec = old.Spec }
	r := d.Build(feature.Default())

	created := budget(0, "a", 3)
	r.Strategy.Create.Prepare(t.Context(), created)
	if diff := cmp.Diff(policyv1.PodDisruptionBudgetStatus{ExpectedPods: 1}, created.Status); diff != "" {
		t.Errorf("create: status (-want +got):\n%s", diff)
	}
	updated := budget(0, "a", 3)
	updated.Spec.Selector = &metav1.LabelSelector{}
	r.Strategy.Update.Prepare(t.Context(), updated, budget(4, "a", 3))
	if updated.Generation != 4 || updated.Spec.Selector != nil {
		t.Errorf("update: generation %d, selector %v", updated.Generation, updated.Spec.Selector)
	}
}

func TestFinalizersAreValidatedFirst(t *testing.T) {
	d := budgets()
	required := field.ErrorList{field.Required(field.NewPath("spec"), "")}
	d.ValidateCreate = func(*policyv1.PodDisruptionBudget) field.ErrorList { return required }
	d.ValidateStatusUpdate = func(_, _ *policyv1.PodDisruptionBudget) field.ErrorList { return required }
	b := budget(1, "a", 3)
	b.Finalizers = []string{"foregroundDeletion", "exam.org/f", "short"}
	const unqualified = `metadata.finalizers[2]: Invalid value: "short": name is neither a standard finalizer name nor is it fully qualified`
	expect := func(write string, errs field.ErrorList, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, registrytest.Texts(errs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", write, diff)
		}
	}

	r := d.Build(feature.Default())
	status, _ := r.Subresource("status")
	expect("create", r.Strategy.Create.Validate(t.Context(), b), unqualified, "spec: Required value")
	expect("update", r.Strategy.Update.Validate(t.Context(), b, b), unqualified)
	expect("status", status.Update.Validate(t.Context(), b, b), unqualified, "spec: Required value")

	d.UnqualifiedFinalizers = true
	expect("unqualified", d.Build(feature.Default()).Strategy.Create.Validate(t.Context(), b), "spec: Required value")
}

func TestSubresourcesAreSorted(t *testing.T) {
	d := budgets()
	d.Subresources = []registry.Subresource{{Name: "zoom"}, {Name: "approval"}}
	var names []string
	for _, s := range d.Build(feature.Default()).Subresources {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"approval", "status", "zoom"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.Subresources[0].Name != "zoom" {
		t.Error("Build sorted its argument")
	}
}

func TestFieldLabels(t *testing.T) {
	labels := kind.FieldLabels("type", "metadata.name")
	for label, known := range map[string]bool{"type": true, "metadata.name": true, "metadata.namespace": false, "spec.x": false} {
		got, value, err := labels(label, "v")
		if known && (got != label || value != "v" || err != nil) || !known && err == nil {
			t.Errorf("%s: %q, %q, %v", label, got, value, err)
		}
	}
}

func TestAge(t *testing.T) {
	if got := kind.Age(metav1.Time{}).Text(time.Now()); got != "<unknown>" {
		t.Errorf("of no time: %s", got)
	}
	if got := kind.Age(metav1.NewTime(time.Now().Add(-72 * time.Hour))).Text(time.Now()); got != "3d" {
		t.Errorf("of three days: %s", got)
	}
}

func TestColumns(t *testing.T) {
	r := kind.Definition[*corev1.ConfigMap]{
		Object: &corev1.ConfigMap{},
		Columns: []kind.Column[*corev1.ConfigMap]{
			kind.NameColumn[*corev1.ConfigMap](),
			{Name: "Data", Type: "integer", Priority: kind.Wide, Description: "d", Cell: func(m *corev1.ConfigMap) any { return int64(len(m.Data)) }},
			{Cell: func(*corev1.ConfigMap) any { return "without a definition" }},
		},
	}.Build(feature.Default())
	want := []metav1.TableColumnDefinition{
		kind.NameDefinition(),
		{Name: "Data", Type: "integer", Priority: 1, Description: "d"},
	}
	if diff := cmp.Diff(want, r.Columns.Definitions); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Data: map[string]string{"k": "v"}}
	cells, conditions := r.Columns.Row(m)
	if diff := cmp.Diff([]any{"m", int64(1), "without a definition"}, cells); diff != "" || conditions != nil {
		t.Errorf("conditions %v, cells (-want +got):\n%s", conditions, diff)
	}
}

func TestValidateAppliesToCreateAndUpdate(t *testing.T) {
	texts := func(d kind.Definition[*policyv1.PodDisruptionBudget]) []string {
		r, b := d.Build(feature.Default()), budget(1, "a", 3)
		create, update := r.Strategy.Create.Validate(t.Context(), b), r.Strategy.Update.Validate(t.Context(), b, b)
		return registrytest.Texts(append(create, update...))
	}
	d := budgets()
	d.Validate = func(*policyv1.PodDisruptionBudget) field.ErrorList {
		return field.ErrorList{field.Required(field.NewPath("both"), "")}
	}
	if diff := cmp.Diff([]string{"both: Required value", "both: Required value"}, texts(d)); diff != "" {
		t.Errorf("Validate alone (-want +got):\n%s", diff)
	}
	d.ValidateCreate = func(*policyv1.PodDisruptionBudget) field.ErrorList {
		return field.ErrorList{field.Required(field.NewPath("create"), "")}
	}
	if diff := cmp.Diff([]string{"create: Required value", "both: Required value"}, texts(d)); diff != "" {
		t.Errorf("with ValidateCreate (-want +got):\n%s", diff)
	}
	d.ValidateUpdate = func(_, _ *policyv1.PodDisruptionBudget) field.ErrorList {
		return field.ErrorList{field.Required(field.NewPath("update"), "")}
	}
	if diff := cmp.Diff([]string{"create: Required value", "update: Required value"}, texts(d)); diff != "" {
		t.Errorf("with ValidateUpdate (-want +got):\n%s", diff)
	}
}
