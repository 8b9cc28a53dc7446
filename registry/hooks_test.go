package registry_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// journal records the calls of hooks, strategies and admission steps.
type journal struct{ lines []string }

// note adds a line of the words.
func (j *journal) note(words ...string) { j.lines = append(j.lines, strings.Join(words, " ")) }

// expect compares the lines with want and clears them.
func (j *journal) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, j.lines); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	j.lines = nil
}

// transaction returns a Transaction that records whether its write happened.
func (j *journal) transaction(words string) registry.Transaction {
	note := func(outcome string) func(context.Context) error {
		return func(context.Context) error {
			j.note(words, outcome)
			return nil
		}
	}
	return registry.Transaction{Commit: note("written"), Rollback: note("not written")}
}

// journaledConfigMaps returns the resource of ConfigMaps. Each function of its strategy records its
// calls.
func journaledConfigMaps(j *journal) *registry.Resource {
	r := registrytest.ConfigMaps()
	s := &r.Strategy
	s.Create.Prepare = func(context.Context, runtime.Object) { j.note("prepare create") }
	s.Create.Validate = func(_ context.Context, obj runtime.Object) field.ErrorList {
		j.note("validate create")
		return validateRefused(obj)
	}
	s.Create.Warnings = func(context.Context, runtime.Object) []string { return []string{"created"} }
	s.Update.Prepare = func(context.Context, runtime.Object, runtime.Object) { j.note("prepare update") }
	s.Update.Validate = func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
		j.note("validate update")
		return validateRefused(obj)
	}
	s.Update.Warnings = func(context.Context, runtime.Object, runtime.Object) []string { return []string{"updated"} }
	s.Canonicalize = func(runtime.Object) { j.note("canonicalize") }
	return r
}

// hooks returns hooks of ConfigMaps that record their calls.
func (j *journal) hooks() registry.Hooks {
	return registry.Hooks{
		BeginCreate: func(context.Context, *registry.Store, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			j.note("begin create")
			return j.transaction("end create"), nil
		},
		BeginUpdate: func(context.Context, *registry.Store, runtime.Object, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			j.note("begin update")
			return j.transaction("end update"), nil
		},
		Complete: func(_ context.Context, _ *registry.Catalog, _, old runtime.Object) {
			j.note(map[bool]string{true: "complete create", false: "complete update"}[old == nil])
		},
		BeginDelete: func(context.Context, *registry.Store, runtime.Object) registry.Transaction {
			j.note("begin delete")
			return j.transaction("end delete")
		},
	}
}

func validateRefused(obj runtime.Object) field.ErrorList {
	if obj.(*corev1.ConfigMap).Data["refuse"] == "" {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("data"), "refused")}
}

// steps returns an admission chain that records its calls.
func (j *journal) steps() registry.Chain {
	note := func(phase string) func(context.Context, *registry.Attributes) error {
		return func(_ context.Context, a *registry.Attributes) error {
			j.note(phase, string(a.Operation), a.Subresource)
			return nil
		}
	}
	return registry.Chain{{Name: "Journal", Admit: note("admit"), Validate: note("admission validates")}}
}

func TestOrderOfTheStepsOfAWrite(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, j.steps(), "configmaps", j.hooks(), journaledConfigMaps(j))
	c := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	j.expect(t, "admit CREATE ", "begin create", "prepare create", "validate create", "canonicalize", "complete create", "admission validates CREATE ", "end create written")

	update[*corev1.ConfigMap](e, "configmaps", patch(c, increment("n")))
	j.expect(t, "admit UPDATE ", "begin update", "prepare update", "validate update", "canonicalize", "complete update", "admission validates UPDATE ", "end update written")

	update[*corev1.ConfigMap](e, "configmaps", patch(c, func(*corev1.ConfigMap) {}))
	j.expect(t, "admit UPDATE ", "begin update", "prepare update", "validate update", "canonicalize", "complete update", "admission validates UPDATE ", "end update written")

	if _, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("c", nil)); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "admit DELETE ", "admission validates DELETE ", "begin delete", "end delete written")
}

func TestHooksOfAWriteThatDoesNotHappen(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), journaledConfigMaps(j))
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	j.lines = nil
	onlyHooks := func() {
		j.lines = slices.DeleteFunc(j.lines, func(line string) bool {
			return !strings.HasPrefix(line, "begin") && !strings.HasPrefix(line, "end")
		})
	}
	refuse := func(c *corev1.ConfigMap) { c.Data = map[string]string{"refuse": "yes"} }
	for _, c := range []struct {
		rule  string
		write func() error
		fails bool
		want  []string
	}{
		{"a create of an existing object", func() error {
			_, err := e.Store("configmaps").Create(t.Context(), post(registrytest.NewConfigMap("c")))
			return err
		}, true, []string{"begin create", "end create not written"}},
		{"an invalid create", func() error {
			_, err := e.Store("configmaps").Create(t.Context(), post(registrytest.Change(registrytest.NewConfigMap("d"), refuse)))
			return err
		}, true, []string{"begin create", "end create not written"}},
		{"a create in a dry run", func() error {
			_, err := e.Store("configmaps").Create(t.Context(), postDryRun(registrytest.NewConfigMap("d")))
			return err
		}, false, []string{"begin create", "end create not written"}},
		{"an invalid update", func() error {
			_, err := e.Store("configmaps").Update(t.Context(), patch(registrytest.NewConfigMap("c"), refuse))
			return err
		}, true, []string{"begin update", "end update not written"}},
		{"an update in a dry run", func() error {
			_, err := e.Store("configmaps").Update(t.Context(), withDryRun(patch(registrytest.NewConfigMap("c"), increment("n"))))
			return err
		}, false, []string{"begin update", "end update not written"}},
		{"a conflicting update", func() error {
			_, err := e.Store("configmaps").Update(t.Context(), put(registrytest.Change(registrytest.NewConfigMap("c"), func(c *corev1.ConfigMap) { c.ResourceVersion = "1" })))
			return err
		}, true, nil},
		{"a delete in a dry run", func() error {
			_, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("c", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
			return err
		}, false, []string{"begin delete", "end delete not written"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if err := c.write(); (err != nil) != c.fails {
				t.Fatal(err)
			}
			onlyHooks()
			if len(j.lines) == 0 {
				j.lines = nil // cmp.Diff distinguishes nil from an empty slice
			}
			j.expect(t, c.want...)
		})
	}
}

func TestLostRaceRollsBackTheAttempt(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), journaledConfigMaps(j))
	c := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	runs := 0
	req := patch(c, func(c *corev1.ConfigMap) {
		if runs++; runs == 1 {
			update[*corev1.ConfigMap](e, "configmaps", patch(c, increment("other")))
			j.lines = nil
		}
		increment("mine")(c)
	})
	ctx, warnings := registry.WithWarnings(t.Context())
	if _, err := e.Store("configmaps").Update(ctx, req); err != nil {
		t.Fatal(err)
	}
	attempt := []string{"begin update", "prepare update", "validate update", "canonicalize", "complete update"}
	j.expect(t, slices.Concat(attempt, []string{"end update not written"}, attempt, []string{"end update written"})...)
	if got := warnings.List(); len(got) != 1 || got[0] != "updated" {
		t.Errorf("warnings %q", got)
	}
}

func TestPanicRollsBackTheTransaction(t *testing.T) {
	for _, c := range []struct{ rule, panics string }{
		{"in a create", "validate create"},
		{"in an update", "validate update"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			j := &journal{}
			configMaps := journaledConfigMaps(j)
			e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), configMaps)
			obj := registrytest.NewConfigMap("c")
			write := func() { _, _ = e.Store("configmaps").Create(t.Context(), post(obj)) }
			want := []string{"begin create", "prepare create", "end create not written"}
			if c.panics == "validate update" {
				e.Create("configmaps", obj)
				write = func() { _, _ = e.Store("configmaps").Update(t.Context(), patch(obj, increment("n"))) }
				want = []string{"begin update", "prepare update", "end update not written"}
			}
			broken := func() field.ErrorList { panic(c.panics) }
			configMaps.Strategy.Create.Validate = func(context.Context, runtime.Object) field.ErrorList { return broken() }
			configMaps.Strategy.Update.Validate = func(context.Context, runtime.Object, runtime.Object) field.ErrorList { return broken() }
			j.lines = nil
			func() {
				defer func() {
					if recover() != c.panics {
						t.Error("the panic was not passed on")
					}
				}()
				write()
			}()
			j.expect(t, want...)
		})
	}
}

// The commit of a hook changes other objects, so it must not stop when the client disconnects.
func TestCommitIgnoresCancellationByTheClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	committed := errors.New("not called")
	e := registrytest.NewHooked(t, nil, "configmaps", registry.Hooks{
		BeginUpdate: func(context.Context, *registry.Store, runtime.Object, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			return registry.Transaction{Commit: func(ctx context.Context) error {
				cancel()
				committed = ctx.Err()
				return nil
			}}, nil
		},
	})
	obj := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	if _, err := e.Store("configmaps").Update(ctx, patch(obj, increment("n"))); err != nil {
		t.Fatal(err)
	}
	if committed != nil {
		t.Errorf("commit: %v", committed)
	}
}

func TestFailedBeginHookRejectsTheCreate(t *testing.T) {
	cause := errors.New("no free address")
	e := registrytest.NewHooked(t, nil, "configmaps", registry.Hooks{
		BeginCreate: func(context.Context, *registry.Store, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			return registry.Transaction{}, cause
		},
	})
	if _, err := e.Store("configmaps").Create(t.Context(), post(registrytest.NewConfigMap("c"))); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if !isAbsent(e, "configmaps", "x", "c") {
		t.Error("the object was created")
	}
}

func TestHooksOfTheRemovalOfTheLastFinalizer(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), journaledConfigMaps(j))
	c := e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("c"), func(c *corev1.ConfigMap) { c.Finalizers = []string{"exam.io/one"} })).(*corev1.ConfigMap)
	if _, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("c", nil)); err != nil {
		t.Fatal(err)
	}
	j.lines = nil
	update[*corev1.ConfigMap](e, "configmaps", patch(c, func(c *corev1.ConfigMap) { c.Finalizers = nil }))
	j.expect(t, "begin update", "prepare update", "validate update", "canonicalize", "complete update", "end update not written", "begin delete", "end delete written")
}

func TestAdmissionMayChangeAndReject(t *testing.T) {
	refusal := errors.New("rejected by admission")
	chain := registry.Chain{{
		Name: "Label",
		Admit: func(_ context.Context, a *registry.Attributes) error {
			if a.Object != nil {
				registrytest.Meta(a.Object).SetLabels(map[string]string{"admitted": string(a.Operation)})
			}
			return nil
		},
		Validate: func(_ context.Context, a *registry.Attributes) error {
			if a.Name == "refused" {
				return refusal
			}
			return nil
		},
	}}
	e := registrytest.New(t, chain)
	c := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	if c.Labels["admitted"] != "CREATE" {
		t.Errorf("labels %v", c.Labels)
	}
	if c = update[*corev1.ConfigMap](e, "configmaps", patch(c, increment("n"))); c.Labels["admitted"] != "UPDATE" {
		t.Errorf("labels %v", c.Labels)
	}
	if _, err := e.Store("configmaps").Create(t.Context(), post(registrytest.NewConfigMap("refused"))); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	lease, err := e.Store("leases.coordination.k8s.io").Update(t.Context(), put(registrytest.NewLease("l")))
	if err != nil || registrytest.Meta(registrytest.Object(lease.Entry)).GetLabels()["admitted"] != "CREATE" {
		t.Errorf("a creating update was not admitted as CREATE: %v, error %v", registrytest.Object(lease.Entry), err)
	}
}

func TestSubresourceWritesCallNoHooks(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "deployments.apps", j.hooks())
	d := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	j.lines = nil
	update[*appsv1.Deployment](e, "deployments.apps", withSubresource("status", patch(d, func(d *appsv1.Deployment) { d.Status.Replicas = 3 })))
	j.expect(t)
}

func TestTransactionsOfAdmissionSteps(t *testing.T) {
	j := &journal{}
	charge := registry.AdmissionStep{Name: "Charge", Validate: func(_ context.Context, a *registry.Attributes) error {
		a.Enlist(j.transaction("charge"))
		return nil
	}}
	refuse := registry.AdmissionStep{Name: "Refuse", Validate: func(_ context.Context, a *registry.Attributes) error {
		if a.Name == "refused" {
			return errors.New("rejected by admission")
		}
		return nil
	}}
	e := registrytest.New(t, registry.Chain{charge, refuse})
	for _, c := range []struct {
		rule, name string
		options    registry.WriteOptions
		want       string
	}{
		{"a create", "c", registry.WriteOptions{}, "charge written"},
		{"a name in use", "c", registry.WriteOptions{}, "charge not written"},
		{"a dry run", "d", registry.WriteOptions{DryRun: true}, "charge not written"},
		{"a later step rejects the object", "refused", registry.WriteOptions{}, "charge not written"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			req := post(registrytest.NewConfigMap(c.name))
			req.Options = c.options
			_, _ = e.Store("configmaps").Create(t.Context(), req)
			j.expect(t, c.want)
		})
	}
	t.Run("a lost race rolls back the attempt", func(t *testing.T) {
		runs := 0
		update[*corev1.ConfigMap](e.With(t), "configmaps", patch(registrytest.NewConfigMap("c"), func(c *corev1.ConfigMap) {
			if runs++; runs == 1 {
				update[*corev1.ConfigMap](e, "configmaps", patch(c, increment("other")))
				j.lines = nil
			}
			increment("mine")(c)
		}))
		j.expect(t, "charge not written", "charge written")
	})
	t.Run("a delete", func(t *testing.T) {
		if _, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("c", nil)); err != nil {
			t.Fatal(err)
		}
		j.expect(t, "charge written")
	})
}
