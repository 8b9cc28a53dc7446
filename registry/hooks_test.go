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

// journal is what hooks, strategies and admission steps write to.
type journal struct{ lines []string }

func (j *journal) note(words ...string) { j.lines = append(j.lines, strings.Join(words, " ")) }

// expect compares, and begins a new page.
func (j *journal) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, j.lines); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	j.lines = nil
}

// transaction notes how a write came out.
func (j *journal) transaction(words string) registry.Transaction {
	note := func(outcome string) func(context.Context) error {
		return func(context.Context) error {
			j.note(words, outcome)
			return nil
		}
	}
	return registry.Transaction{Commit: note("written"), Rollback: note("not written")}
}

// journaled returns ConfigMaps whose every seam notes when it is used.
func journaled(j *journal) *registry.Resource {
	r := registrytest.ConfigMaps()
	s := &r.Strategy
	s.Create.Prepare = func(context.Context, runtime.Object) { j.note("prepare create") }
	s.Create.Validate = func(_ context.Context, obj runtime.Object) field.ErrorList {
		j.note("validate create")
		return refused(obj)
	}
	s.Create.Warnings = func(context.Context, runtime.Object) []string { return []string{"created"} }
	s.Update.Prepare = func(context.Context, runtime.Object, runtime.Object) { j.note("prepare update") }
	s.Update.Validate = func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
		j.note("validate update")
		return refused(obj)
	}
	s.Update.Warnings = func(context.Context, runtime.Object, runtime.Object) []string { return []string{"updated"} }
	s.Canonicalize = func(runtime.Object) { j.note("canonicalize") }
	return r
}

// hooks are those of the same ConfigMaps.
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

func refused(obj runtime.Object) field.ErrorList {
	if obj.(*corev1.ConfigMap).Data["refuse"] == "" {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("data"), "refused")}
}

// steps is a chain that notes what it sees.
func (j *journal) steps() registry.Chain {
	note := func(phase string) func(context.Context, *registry.Attributes) error {
		return func(_ context.Context, a *registry.Attributes) error {
			j.note(phase, string(a.Operation), a.Subresource)
			return nil
		}
	}
	return registry.Chain{{Name: "Journal", Admit: note("admit"), Validate: note("admission validates")}}
}

func TestOrderOfAWrite(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, j.steps(), "configmaps", j.hooks(), journaled(j))
	c := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	j.expect(t, "admit CREATE ", "begin create", "prepare create", "validate create", "canonicalize", "complete create", "admission validates CREATE ", "end create written")

	update[*corev1.ConfigMap](e, "configmaps", patch(c, count("n")))
	j.expect(t, "admit UPDATE ", "begin update", "prepare update", "validate update", "canonicalize", "complete update", "admission validates UPDATE ", "end update written")

	update[*corev1.ConfigMap](e, "configmaps", patch(c, func(*corev1.ConfigMap) {}))
	j.expect(t, "admit UPDATE ", "begin update", "prepare update", "validate update", "canonicalize", "complete update", "admission validates UPDATE ", "end update written")

	if _, err := e.Store("configmaps").Delete(t.Context(), remove("c", nil)); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "admit DELETE ", "admission validates DELETE ", "begin delete", "end delete written")
}

func TestHooksOfAWriteThatIsNot(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), journaled(j))
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	j.lines = nil
	onlyHooks := func() {
		j.lines = slices.DeleteFunc(j.lines, func(line string) bool {
			return !strings.HasPrefix(line, "begin") && !strings.HasPrefix(line, "end") && !strings.HasPrefix(line, "after")
		})
	}
	refuse := func(c *corev1.ConfigMap) { c.Data = map[string]string{"refuse": "yes"} }
	for _, c := range []struct {
		rule  string
		write func() error
		fails bool
		want  []string
	}{
		{"a create that exists", func() error {
			_, err := e.Store("configmaps").Create(t.Context(), post(registrytest.NewConfigMap("c")))
			return err
		}, true, []string{"begin create", "end create not written"}},
		{"a create that is invalid", func() error {
			_, err := e.Store("configmaps").Create(t.Context(), post(registrytest.Change(registrytest.NewConfigMap("d"), refuse)))
			return err
		}, true, []string{"begin create", "end create not written"}},
		{"a create that is dry", func() error {
			_, err := e.Store("configmaps").Create(t.Context(), postDry(registrytest.NewConfigMap("d")))
			return err
		}, false, []string{"begin create", "end create not written"}},
		{"an update that is invalid", func() error {
			_, err := e.Store("configmaps").Update(t.Context(), patch(registrytest.NewConfigMap("c"), refuse))
			return err
		}, true, []string{"begin update", "end update not written"}},
		{"an update that is dry", func() error {
			_, err := e.Store("configmaps").Update(t.Context(), dry(patch(registrytest.NewConfigMap("c"), count("n"))))
			return err
		}, false, []string{"begin update", "end update not written"}},
		{"an update that conflicts", func() error {
			_, err := e.Store("configmaps").Update(t.Context(), put(registrytest.Change(registrytest.NewConfigMap("c"), func(c *corev1.ConfigMap) { c.ResourceVersion = "1" })))
			return err
		}, true, nil},
		{"a delete that is dry", func() error {
			_, err := e.Store("configmaps").Delete(t.Context(), remove("c", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
			return err
		}, false, []string{"begin delete", "end delete not written"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if err := c.write(); (err != nil) != c.fails {
				t.Fatal(err)
			}
			onlyHooks()
			want := c.want
			if len(j.lines) == 0 {
				j.lines = nil
			}
			j.expect(t, want...)
		})
	}
}

func TestALostRaceEndsWhatItsAttemptBegan(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), journaled(j))
	c := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	runs := 0
	req := patch(c, func(c *corev1.ConfigMap) {
		if runs++; runs == 1 {
			update[*corev1.ConfigMap](e, "configmaps", patch(c, count("other")))
			j.lines = nil
		}
		count("mine")(c)
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

func TestAPanicEndsWhatWasBegun(t *testing.T) {
	for _, c := range []struct{ rule, panics string }{
		{"in a create", "validate create"},
		{"in an update", "validate update"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			j := &journal{}
			configMaps := journaled(j)
			e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), configMaps)
			obj := registrytest.NewConfigMap("c")
			write := func() { _, _ = e.Store("configmaps").Create(t.Context(), post(obj)) }
			want := []string{"begin create", "prepare create", "end create not written"}
			if c.panics == "validate update" {
				e.Create("configmaps", obj)
				write = func() { _, _ = e.Store("configmaps").Update(t.Context(), patch(obj, count("n"))) }
				want = []string{"begin update", "prepare update", "end update not written"}
			}
			broken := func() field.ErrorList { panic(c.panics) }
			configMaps.Strategy.Create.Validate = func(context.Context, runtime.Object) field.ErrorList { return broken() }
			configMaps.Strategy.Update.Validate = func(context.Context, runtime.Object, runtime.Object) field.ErrorList { return broken() }
			j.lines = nil
			func() {
				defer func() {
					if recover() != c.panics {
						t.Error("the panic got lost")
					}
				}()
				write()
			}()
			j.expect(t, want...)
		})
	}
}

// What a hook does elsewhere must not depend on whether the client still waits.
func TestTransactionsOutliveTheClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := errors.New("not run")
	e := registrytest.NewHooked(t, nil, "configmaps", registry.Hooks{
		BeginUpdate: func(context.Context, *registry.Store, runtime.Object, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			return registry.Transaction{Commit: func(ctx context.Context) error {
				cancel()
				ended = ctx.Err()
				return nil
			}}, nil
		},
	})
	obj := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	if _, err := e.Store("configmaps").Update(ctx, patch(obj, count("n"))); err != nil {
		t.Fatal(err)
	}
	if ended != nil {
		t.Errorf("commit: %v", ended)
	}
}

func TestABeginHookThatFailsHasNothingToEnd(t *testing.T) {
	cause := errors.New("no address is left")
	e := registrytest.NewHooked(t, nil, "configmaps", registry.Hooks{
		BeginCreate: func(context.Context, *registry.Store, runtime.Object, registry.WriteOptions) (registry.Transaction, error) {
			return registry.Transaction{}, cause
		},
	})
	if _, err := e.Store("configmaps").Create(t.Context(), post(registrytest.NewConfigMap("c"))); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if !absent(e, "configmaps", "x", "c") {
		t.Error("it was created")
	}
}

func TestAfterHookOfTheLastFinalizer(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "configmaps", j.hooks(), journaled(j))
	c := e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap("c"), func(c *corev1.ConfigMap) { c.Finalizers = []string{"exam.io/one"} })).(*corev1.ConfigMap)
	if _, err := e.Store("configmaps").Delete(t.Context(), remove("c", nil)); err != nil {
		t.Fatal(err)
	}
	j.lines = nil
	update[*corev1.ConfigMap](e, "configmaps", patch(c, func(c *corev1.ConfigMap) { c.Finalizers = nil }))
	j.expect(t, "begin update", "prepare update", "validate update", "canonicalize", "complete update", "end update not written", "begin delete", "end delete written")
}

func TestAdmissionMayChangeAndRefuse(t *testing.T) {
	refusal := errors.New("not this one")
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
	if c = update[*corev1.ConfigMap](e, "configmaps", patch(c, count("n"))); c.Labels["admitted"] != "UPDATE" {
		t.Errorf("labels %v", c.Labels)
	}
	if _, err := e.Store("configmaps").Create(t.Context(), post(registrytest.NewConfigMap("refused"))); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	lease, err := e.Store("leases.coordination.k8s.io").Update(t.Context(), put(registrytest.NewLease("l")))
	if err != nil || registrytest.Meta(registrytest.Object(lease.Entry)).GetLabels()["admitted"] != "CREATE" {
		t.Errorf("an update that creates is a creation: %v, error %v", registrytest.Object(lease.Entry), err)
	}
}

func TestWritesOfASubresourceHaveNoHooks(t *testing.T) {
	j := &journal{}
	e := registrytest.NewHooked(t, nil, "deployments.apps", j.hooks())
	d := e.Create("deployments.apps", registrytest.NewDeployment("d")).(*appsv1.Deployment)
	j.lines = nil
	update[*appsv1.Deployment](e, "deployments.apps", to("status", patch(d, func(d *appsv1.Deployment) { d.Status.Replicas = 3 })))
	j.expect(t)
}

func TestAdmissionLearnsWhetherWhatItAdmittedWasWritten(t *testing.T) {
	j := &journal{}
	charge := registry.AdmissionStep{Name: "Charge", Validate: func(_ context.Context, a *registry.Attributes) error {
		a.Enlist(j.transaction("charge"))
		return nil
	}}
	refuse := registry.AdmissionStep{Name: "Refuse", Validate: func(_ context.Context, a *registry.Attributes) error {
		if a.Name == "refused" {
			return errors.New("not this one")
		}
		return nil
	}}
	e := registrytest.New(t, registry.Chain{charge, refuse})
	for _, c := range []struct {
		rule, name string
		options    registry.WriteOptions
		want       string
	}{
		{"a creation", "c", registry.WriteOptions{}, "charge written"},
		{"a name that is taken", "c", registry.WriteOptions{}, "charge not written"},
		{"a dry run", "d", registry.WriteOptions{DryRun: true}, "charge not written"},
		{"a later step refuses", "refused", registry.WriteOptions{}, "charge not written"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			req := post(registrytest.NewConfigMap(c.name))
			req.Options = c.options
			_, _ = e.Store("configmaps").Create(t.Context(), req)
			j.expect(t, c.want)
		})
	}
	t.Run("a lost race gives back what its attempt was charged", func(t *testing.T) {
		runs := 0
		update[*corev1.ConfigMap](e.With(t), "configmaps", patch(registrytest.NewConfigMap("c"), func(c *corev1.ConfigMap) {
			if runs++; runs == 1 {
				update[*corev1.ConfigMap](e, "configmaps", patch(c, count("other")))
				j.lines = nil
			}
			count("mine")(c)
		}))
		j.expect(t, "charge not written", "charge written")
	})
	t.Run("a deletion", func(t *testing.T) {
		if _, err := e.Store("configmaps").Delete(t.Context(), remove("c", nil)); err != nil {
			t.Fatal(err)
		}
		j.expect(t, "charge written")
	})
}
