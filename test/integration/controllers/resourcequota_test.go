package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// createQuota creates the quota q in the namespace default, with limits such as "pods=1,secrets=2".
func (e *env) createQuota(limits string, edits ...func(*corev1.ResourceQuota)) *corev1.ResourceQuota {
	e.Helper()
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: resources(limits)}}
	for _, edit := range edits {
		edit(q)
	}
	q, err := e.client.CoreV1().ResourceQuotas("default").Create(e.Context(), q, metav1.CreateOptions{})
	e.check(err)
	return q
}

func (e *env) patchQuota(patch string, subresources ...string) {
	e.Helper()
	_, err := e.client.CoreV1().ResourceQuotas("default").Patch(e.Context(), "q", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	e.check(err)
}

// resources returns the quantities of "NAME=QUANTITY,...".
func resources(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for pair := range strings.SplitSeq(text, ",") {
		name, quantity, _ := strings.Cut(pair, "=")
		list[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return list
}

// awaitUsed waits until the status of the quota has these quantities and the limits of its spec.
func (e *env) awaitUsed(used string) {
	e.Helper()
	last := corev1.ResourceQuotaStatus{}
	defer func() { e.Helper(); e.Logf("the last status is %v, want used %s", last, used) }()
	e.await("usage "+used, func(ctx context.Context) bool {
		q, err := e.client.CoreV1().ResourceQuotas("default").Get(ctx, "q", metav1.GetOptions{})
		e.check(err)
		last = q.Status
		return equality.Semantic.DeepEqual(last, corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: resources(used)})
	})
}

func requesting(requests string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = resources(requests) }
}

// The namespace default has the Service kubernetes.
func TestAQuotaCountsExistingObjects(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createConfigMap("default", "a")
	e.createConfigMap("default", "b")
	e.createConfigMap("kube-system", "elsewhere")
	e.createPod(pod("a", requesting("cpu=100m,memory=1Gi")))
	e.createPod(pod("b", requesting("cpu=1,memory=512Mi")))
	e.createService(func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort })
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		StorageClassName: new("gold"),
		Resources:        corev1.VolumeResourceRequirements{Requests: resources("storage=2Gi")},
	}}
	_, err := e.client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim, metav1.CreateOptions{})
	e.check(err)
	e.createQuota("configmaps=9,count/configmaps=9,pods=9,count/pods=9,requests.cpu=9,memory=9Gi,services=9,services.nodeports=9," +
		"services.loadbalancers=9,requests.storage=9Gi,gold.storageclass.storage.k8s.io/requests.storage=9Gi,count/deployments.apps=9," +
		"resourcequotas=9")
	e.awaitUsed("configmaps=2,count/configmaps=2,pods=2,count/pods=2,requests.cpu=1100m,memory=1536Mi,services=2,services.nodeports=1," +
		"services.loadbalancers=0,requests.storage=2Gi,gold.storageclass.storage.k8s.io/requests.storage=2Gi,count/deployments.apps=0," +
		"resourcequotas=1")
}

func TestADeletedObjectFreesItsQuota(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createQuota("configmaps=1")
	e.awaitUsed("configmaps=0")
	e.createConfigMap("default", "a")
	e.awaitUsed("configmaps=1")
	_, err := e.client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("default", "b"), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a creation beyond the limit: %v", err)
	}
	e.deleteConfigMap("a", metav1.DeletePropagationBackground)
	e.awaitUsed("configmaps=0")
	e.createConfigMap("default", "b")
}

func TestAFinishedPodCountsOnlyAsAnObject(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createQuota("pods=1,count/pods=9,requests.cpu=1")
	e.awaitUsed("pods=0,count/pods=0,requests.cpu=0")
	e.createPod(pod("a", requesting("cpu=1")))
	e.awaitUsed("pods=1,count/pods=1,requests.cpu=1")
	e.patchPod("a", `{"status":{"phase":"Succeeded"}}`, "status")
	e.awaitUsed("pods=0,count/pods=1,requests.cpu=0")
}

// No write ends the charge of a pod on a node that is lost.
func TestAPodThatOutlivesItsGracePeriodCountsOnlyAsAnObject(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createQuota("pods=1,count/pods=9")
	e.awaitUsed("pods=0,count/pods=0")
	p := e.createPod(pod("a"))
	e.bind(p)
	for _, step := range []struct {
		grace int64
		used  string
	}{{3600, "pods=1,count/pods=1"}, {1, "pods=0,count/pods=1"}} {
		e.check(e.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: &step.grace}))
		e.awaitUsed(step.used)
	}
}

func TestAQuotaCountsThePodsInItsScopes(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createPod(pod("best-effort"))
	e.createPod(pod("burstable", requesting("cpu=1")))
	e.createQuota("pods=9", func(q *corev1.ResourceQuota) {
		q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}
	})
	e.awaitUsed("pods=1")
}

func TestAQuotaCountsCustomObjectsThatAreDefinedLater(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createQuota("count/widgets.example.com=1,configmaps=9")
	e.awaitUsed("configmaps=0")
	e.install(widgetDefinition)
	e.awaitUsed("count/widgets.example.com=0,configmaps=0")
	e.createWidget("default", "a")
	e.check(e.dynamic.Resource(widgets).Namespace("default").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	e.awaitUsed("count/widgets.example.com=0,configmaps=0")
}

func TestTheStatusFollowsTheLimits(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createConfigMap("default", "a")
	e.createQuota("configmaps=1")
	e.awaitUsed("configmaps=1")
	e.patchQuota(`{"spec":{"hard":{"configmaps":"5","secrets":"2"}}}`)
	e.awaitUsed("configmaps=1,secrets=0")
	e.patchQuota(`{"spec":{"hard":{"configmaps":null}}}`)
	e.awaitUsed("secrets=0")
}

func TestAWrongUsageIsCorrected(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createQuota("configmaps=9")
	e.awaitUsed("configmaps=0")
	e.patchQuota(`{"status":{"used":{"configmaps":"7"}}}`, "status")
	e.awaitUsed("configmaps=0")
}

// The controller writes no usage that admission has charged.
func TestAChargedUsageIsNotWrittenAgain(t *testing.T) {
	e := startWorkloads(t, "resourcequota")
	e.createQuota("configmaps=9")
	e.awaitUsed("configmaps=0")
	q, err := e.client.CoreV1().ResourceQuotas("default").Get(t.Context(), "q", metav1.GetOptions{})
	e.check(err)
	events, err := e.client.CoreV1().ResourceQuotas("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: q.ResourceVersion})
	e.check(err)
	defer events.Stop()
	for _, name := range []string{"a", "b", "c"} {
		e.createConfigMap("default", name)
	}
	e.deleteConfigMap("a", metav1.DeletePropagationBackground)
	var used []string
	for len(used) < 4 {
		quota := (<-events.ResultChan()).Object.(*corev1.ResourceQuota)
		quantity := quota.Status.Used[corev1.ResourceConfigMaps]
		used = append(used, quantity.String())
	}
	if want := []string{"1", "2", "3", "2"}; !slices.Equal(used, want) {
		t.Errorf("usage %v, want %v", used, want)
	}
}

// A recalculation between a charge and the creation of the object does not lose the charge.
func TestConcurrentCreationsDoNotExceedAQuota(t *testing.T) {
	const limit, clients, rounds = 5, 8, 30
	e := startWorkloads(t, "resourcequota")
	e.createQuota(fmt.Sprintf("configmaps=%d", limit))
	e.awaitUsed("configmaps=0")
	configMaps := e.client.CoreV1().ConfigMaps("default")
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for round := range rounds {
				name := fmt.Sprintf("c-%d-%d", client, round)
				_, err := configMaps.Create(t.Context(), configMap("default", name), metav1.CreateOptions{})
				if apierrors.IsForbidden(err) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				list, err := configMaps.List(t.Context(), metav1.ListOptions{})
				if err != nil || len(list.Items) > limit {
					t.Errorf("%d objects, want at most %d (%v)", len(list.Items), limit, err)
				}
				if err := configMaps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	e.awaitUsed("configmaps=0")
}
