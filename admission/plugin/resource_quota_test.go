package plugin_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// quota creates a quota whose status is set, as the quota controller does.
func (e env) quota(name string, hard corev1.ResourceList, change func(*corev1.ResourceQuota)) {
	e.Helper()
	q := &corev1.ResourceQuota{ObjectMeta: named(name), Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if change != nil {
		change(q)
	}
	e.Create("resourcequotas", q)
	used := corev1.ResourceList{}
	for resource := range hard {
		used[resource] = amounts("a", "0")["a"]
	}
	e.status(name, func(q *corev1.ResourceQuota) { q.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: used} })
}

func (e env) status(name string, change func(*corev1.ResourceQuota)) {
	e.Helper()
	_, err := e.Store("resourcequotas").Update(e.Context(), registry.UpdateRequest{
		Namespace: "x", Name: name, Subresource: "status",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			q := current.DeepCopyObject().(*corev1.ResourceQuota)
			change(q)
			return q, nil
		},
	})
	if err != nil {
		e.Fatal(err)
	}
}

func (e env) expectUsed(name string, resource corev1.ResourceName, want string) {
	e.Helper()
	used := e.Get("resourcequotas", "x", name).(*corev1.ResourceQuota).Status.Used[resource]
	if used.String() != want {
		e.Errorf("quota %s: %s of %s used, want %s", name, used.String(), resource, want)
	}
}

func TestQuotaOfObjectCounts(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.quota("q", amounts("count/secrets", "2", "secrets", "5"), nil)
	secret := func(name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: named(name)} }
	e.Create("secrets", secret("a"))
	e.expectUsed("q", "count/secrets", "1")
	e.expectUsed("q", "secrets", "1")
	if _, failure := e.try("secrets", secret("a")); !strings.Contains(failure, "already exists") {
		t.Error(failure)
	}
	e.expectUsed("q", "count/secrets", "1")
	if _, failure := e.tryWith("secrets", secret("b"), dry()); failure != "" {
		t.Error(failure)
	}
	e.expectUsed("q", "count/secrets", "1")
	e.Create("secrets", secret("b"))
	want := `secrets "c" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=2, limited: count/secrets=2`
	for _, options := range []registry.WriteOptions{{}, dry()} {
		if _, failure := e.tryWith("secrets", secret("c"), options); failure != want {
			t.Errorf("got %q\nwant %q", failure, want)
		}
	}
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	e.expectUsed("q", "count/secrets", "2")
}

func TestQuotaWithoutStatus(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.Create("resourcequotas", &corev1.ResourceQuota{ObjectMeta: named("q"), Spec: corev1.ResourceQuotaSpec{Hard: amounts("secrets", "0")}})
	e.Create("secrets", &corev1.Secret{ObjectMeta: named("a")})
	e.status("q", func(q *corev1.ResourceQuota) { q.Status.Hard = q.Spec.Hard })
	want := `secrets "b" is forbidden: status unknown for quota: q, resources: secrets`
	if _, failure := e.try("secrets", &corev1.Secret{ObjectMeta: named("b")}); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
}

func TestQuotaOfComputeResources(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.quota("q", amounts("pods", "5", "requests.cpu", "1", "limits.memory", "1Gi"), nil)
	pod := func(name string, requests, limits corev1.ResourceList) *corev1.Pod {
		return newPod(name, withResources(requests, limits))
	}
	want := `pods "a" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c`
	if _, failure := e.try("pods", pod("a", nil, nil)); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
	e.Create("pods", pod("a", amounts("cpu", "600m"), amounts("memory", "512Mi")))
	e.expectUsed("q", "requests.cpu", "600m")
	e.expectUsed("q", "limits.memory", "512Mi")
	want = `pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1`
	if _, failure := e.try("pods", pod("b", amounts("cpu", "500m"), amounts("memory", "1Mi"))); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
	e.expectUsed("q", "pods", "1")
}

func TestQuotaScopes(t *testing.T) {
	for _, tc := range []struct {
		rule  string
		scope corev1.ScopedResourceSelectorRequirement
		in    func(*corev1.Pod)
		out   func(*corev1.Pod)
	}{
		{"best effort", corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopeBestEffort, Operator: corev1.ScopeSelectorOpExists},
			nil, withResources(amounts("cpu", "1m"), nil)},
		{"terminating", corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopeTerminating, Operator: corev1.ScopeSelectorOpExists},
			func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(1)) }, nil},
		{"a priority class", corev1.ScopedResourceSelectorRequirement{
			ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"system-node-critical"},
		}, func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" }, nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := newKinds(t, plugin.Config{})
			e.quota("q", amounts("pods", "1"), func(q *corev1.ResourceQuota) {
				q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{tc.scope}}
			})
			e.Create("pods", newPod("out", tc.out))
			e.expectUsed("q", "pods", "0")
			e.Create("pods", newPod("in", tc.in))
			e.expectUsed("q", "pods", "1")
			if _, failure := e.try("pods", newPod("in2", tc.in)); !strings.Contains(failure, "exceeded quota") {
				t.Errorf("failure %q", failure)
			}
		})
	}
}

func TestQuotaOfUpdates(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.quota("q", amounts("services", "9", "services.nodeports", "1"), nil)
	service := mustCreate(e, "services", &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}})
	e.expectUsed("q", "services.nodeports", "0")
	change(e, "services", service, func(s *corev1.Service) {
		s.Spec.Type, s.Spec.ExternalTrafficPolicy = corev1.ServiceTypeNodePort, corev1.ServiceExternalTrafficPolicyCluster
	})
	e.expectUsed("q", "services.nodeports", "1")
	e.expectUsed("q", "services", "1")
}

func TestQuotaOfClaims(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.quota("q", amounts("requests.storage", "5Gi", "gold.storageclass.storage.k8s.io/requests.storage", "1Gi"), nil)
	gold := newClaim("g")
	gold.Spec.StorageClassName = new("gold")
	e.Create("persistentvolumeclaims", gold)
	e.Create("persistentvolumeclaims", newClaim("plain"))
	e.expectUsed("q", "requests.storage", "2Gi")
	e.expectUsed("q", "gold.storageclass.storage.k8s.io/requests.storage", "1Gi")
}

// TestQuotaOfClaimSizes checks that fractions of bytes are rounded up, and that a larger allocated
// size is charged, also beyond the limit.
func TestQuotaOfClaimSizes(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.quota("q", amounts("requests.storage", "1000"), nil)
	claim := newClaim("c")
	claim.Spec.Resources.Requests = amounts("storage", "100.5")
	claim = mustCreate(e, "persistentvolumeclaims", claim)
	e.expectUsed("q", "requests.storage", "101")
	for _, c := range []struct{ allocated, used string }{{"50", "101"}, {"400.1", "401"}, {"200", "401"}, {"5000", "5201"}} {
		_, err := tryChange(e, "persistentvolumeclaims", "status", claim, func(c2 *corev1.PersistentVolumeClaim) {
			c2.Status.AllocatedResources = amounts("storage", c.allocated)
		})
		if err != nil {
			t.Fatal(err)
		}
		e.expectUsed("q", "requests.storage", c.used)
	}
}

func TestQuotaOfVolumeAttributesClasses(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	scoped := func(operator corev1.ScopeSelectorOperator, values ...string) func(*corev1.ResourceQuota) {
		return func(q *corev1.ResourceQuota) {
			q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
				{ScopeName: corev1.ResourceQuotaScopeVolumeAttributesClass, Operator: operator, Values: values},
			}}
		}
	}
	e.quota("gold", amounts("persistentvolumeclaims", "9"), scoped(corev1.ScopeSelectorOpIn, "gold"))
	e.quota("none", amounts("persistentvolumeclaims", "9"), scoped(corev1.ScopeSelectorOpDoesNotExist))
	e.quota("others", amounts("persistentvolumeclaims", "9"), scoped(corev1.ScopeSelectorOpNotIn, "gold"))
	gold := newClaim("gold")
	gold.Spec.VolumeAttributesClassName = new("gold")
	gold = mustCreate(e, "persistentvolumeclaims", gold)
	e.Create("persistentvolumeclaims", newClaim("none"))
	for name, want := range map[string]string{"gold": "1", "none": "1", "others": "1"} {
		e.expectUsed(name, "persistentvolumeclaims", want)
	}
	_, err := tryChange(e, "persistentvolumeclaims", "status", gold, func(c *corev1.PersistentVolumeClaim) {
		c.Status.CurrentVolumeAttributesClassName = new("silver")
	})
	if err != nil {
		t.Fatal(err)
	}
	e.expectUsed("others", "persistentvolumeclaims", "2")
}

// TestQuotaOfAPodThatChangesItsScope sets a deadline, which moves a pod to the scope Terminating.
func TestQuotaOfAPodThatChangesItsScope(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.quota("q", amounts("pods", "1"), func(q *corev1.ResourceQuota) {
		q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}
	})
	pod := mustCreate(e, "pods", newPod("p", nil))
	e.expectUsed("q", "pods", "0")
	change(e, "pods", pod, func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(5)) })
	e.expectUsed("q", "pods", "1")
}

// The usage is subtracted from a quota if another quota rejects the write.
func TestQuotaRefund(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.quota("a", amounts("secrets", "9"), nil)
	e.quota("b", amounts("secrets", "0"), nil)
	if _, failure := e.try("secrets", &corev1.Secret{ObjectMeta: named("s")}); !strings.Contains(failure, "exceeded quota: b") {
		t.Errorf("failure %q", failure)
	}
	e.expectUsed("a", "secrets", "0")
}

func TestQuotaConcurrency(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	const limit, writers = 10, 30
	e.quota("q", amounts("secrets", fmt.Sprint(limit)), nil)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { e.try("secrets", &corev1.Secret{ObjectMeta: named(fmt.Sprintf("s%d", i))}) })
	}
	wg.Wait()
	page, err := e.Store("secrets").List(t.Context(), registry.ListRequest{Namespace: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Entries) != limit {
		t.Errorf("%d secrets, want %d", len(page.Entries), limit)
	}
	e.expectUsed("q", "secrets", fmt.Sprint(limit))
}
