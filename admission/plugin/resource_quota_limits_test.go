package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

// newLimited returns an environment with limitedResources of ResourceQuota.
func newLimited(t *testing.T, limits string) env {
	t.Helper()
	return newKinds(t, plugin.Config{ControlConfigFile: controlFile(t,
		"- name: ResourceQuota\n  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: ResourceQuotaConfiguration, limitedResources: ["+limits+"]}\n")})
}

func TestLimitedUsageNeedsAQuota(t *testing.T) {
	e := newLimited(t, `{resource: persistentvolumeclaims, matchContains: [.storageclass.storage.k8s.io/]}, {apiGroup: apps, resource: persistentvolumeclaims, matchContains: [requests]}`)
	gold := func(name string) *corev1.PersistentVolumeClaim {
		claim := newClaim(name)
		claim.Spec.StorageClassName = new("gold")
		return claim
	}
	e.Create("persistentvolumeclaims", newClaim("plain"))
	e.Create("secrets", &corev1.Secret{ObjectMeta: named("a")})
	want := `persistentvolumeclaims "g" is forbidden: insufficient quota to consume: gold.storageclass.storage.k8s.io/persistentvolumeclaims,gold.storageclass.storage.k8s.io/requests.storage`
	if _, failure := e.try("persistentvolumeclaims", gold("g")); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
	e.quota("sizes", amounts("gold.storageclass.storage.k8s.io/requests.storage", "1Gi"), nil)
	want = `persistentvolumeclaims "g" is forbidden: insufficient quota to consume: gold.storageclass.storage.k8s.io/persistentvolumeclaims`
	if _, failure := e.try("persistentvolumeclaims", gold("g")); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
	e.expectUsed("sizes", "gold.storageclass.storage.k8s.io/requests.storage", "0")
	e.quota("counts", amounts("gold.storageclass.storage.k8s.io/persistentvolumeclaims", "9"), nil)
	claim := mustCreate(e, "persistentvolumeclaims", gold("g"))
	e.expectUsed("counts", "gold.storageclass.storage.k8s.io/persistentvolumeclaims", "1")
	if _, err := e.Store("resourcequotas").Delete(t.Context(), deletion("counts")); err != nil {
		t.Fatal(err)
	}
	change(e, "persistentvolumeclaims", claim, func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"no": "usage"} })
}

func TestLimitedScopeNeedsAQuota(t *testing.T) {
	const scope = "system-node-critical"
	e := newLimited(t, `{resource: pods, matchScopes: [{scopeName: PriorityClass, operator: In, values: [`+scope+`]}]}`)
	critical := func(p *corev1.Pod) { p.Spec.PriorityClassName = scope }
	e.Create("pods", newPod("plain", nil))
	const want = "insufficient quota to match these scopes: [{PriorityClass In [" + scope + "]}]"
	if _, failure := e.try("pods", newPod("p", critical)); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
	e.quota("q", amounts("pods", "1"), func(q *corev1.ResourceQuota) {
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpExists},
		}}
	})
	e.Create("pods", newPod("p", critical))
	e.expectUsed("q", "pods", "1")
}
