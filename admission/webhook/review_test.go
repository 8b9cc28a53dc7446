package webhook_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/miniapi/miniapi/internal/servertest"
)

// one returns the only request that was received.
func (e *env) one() received {
	e.Helper()
	all := e.requests()
	if len(all) != 1 {
		e.Fatalf("%d requests: %v", len(all), all)
	}
	return all[0]
}

// summary returns the operation, kind, resource and name of a request.
func summary(r received) string {
	text := string(r.Operation) + " " + r.Kind.String() + " " + r.Resource.String()
	if r.SubResource != "" {
		text += "/" + r.SubResource
	}
	return text + " " + r.Namespace + "/" + r.Name
}

func decodeAs[T runtime.Object](t *testing.T, raw runtime.RawExtension, into T) T {
	t.Helper()
	if err := json.Unmarshal(raw.Raw, into); err != nil {
		t.Fatalf("%s: %v", raw.Raw, err)
	}
	return into
}

func TestReviewOfAnUpdate(t *testing.T) {
	e := start(t)
	old, err := e.create(configMap("c"))
	if err != nil {
		t.Fatal(err)
	}
	e.validating("v")
	next := old.DeepCopy()
	next.Data = map[string]string{"a": "b"}
	configMaps := e.client.CoreV1().ConfigMaps("default")
	if _, err := configMaps.Update(t.Context(), next, metav1.UpdateOptions{FieldManager: "m"}); err != nil {
		t.Fatal(err)
	}
	got := e.one()
	if summary(got) != "UPDATE /v1, Kind=ConfigMap /v1, Resource=configmaps default/c" {
		t.Errorf("got %s", summary(got))
	}
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	if object := decodeAs(t, got.Object, &corev1.ConfigMap{}); object.TypeMeta != kind || object.Data["a"] != "b" {
		t.Errorf("object %v", object)
	}
	if object := decodeAs(t, got.OldObject, &corev1.ConfigMap{}); object.TypeMeta != kind || object.Data != nil || object.UID != old.UID {
		t.Errorf("old object %v", object)
	}
	want := `{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"m"}`
	if string(got.Options.Raw) != want || *got.DryRun {
		t.Errorf("options %s, dry run %v", got.Options.Raw, *got.DryRun)
	}
	if *got.RequestKind != got.Kind || *got.RequestResource != got.Resource || got.UserInfo.Username != "system:admin" {
		t.Errorf("request %v", got)
	}
	if _, err := configMaps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{FieldManager: "m"}); err != nil {
		t.Fatal(err)
	}
	if got := e.one(); string(got.Options.Raw) != want {
		t.Errorf("options %s", got.Options.Raw)
	}
}

func TestReviewOfADeletion(t *testing.T) {
	e := start(t)
	for _, name := range []string{"a", "b"} {
		if _, err := e.create(configMap(name)); err != nil {
			t.Fatal(err)
		}
	}
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules = rules("DELETE", "", "v1", "configmaps") })
	e.handle("/v", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if decodeAs(t, r.OldObject, &corev1.ConfigMap{}).Name == "b" {
			return deny(&metav1.Status{Message: "keep b"})(r)
		}
		return allow()
	})
	configMaps := e.client.CoreV1().ConfigMaps("default")
	err := configMaps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	servertest.WantStatus(t, err, 400, "", `admission webhook "v.example.com" denied the request: keep b`)
	got := e.requests()
	if len(got) != 2 || got[0].Name != "" || len(got[0].Object.Raw) > 4 || decodeAs(t, got[1].OldObject, &corev1.ConfigMap{}).Name != "b" {
		t.Errorf("received %v", got)
	}
	if _, err := configMaps.Get(t.Context(), "b", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	_ = configMaps.Delete(t.Context(), "b", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)})
	want := `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","propagationPolicy":"Orphan"}`
	if got := e.one(); string(got.Options.Raw) != want {
		t.Errorf("options %s", got.Options.Raw)
	}
}

func TestReviewOfAConnection(t *testing.T) {
	e := start(t)
	must(t, e.client.CoreV1().Pods("default").Create, pod("p"))
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules = rules("CONNECT", "", "v1", "pods/exec") })
	e.handle("/v", deny(&metav1.Status{Code: 403, Message: "no shells"}))
	options := &corev1.PodExecOptions{Command: []string{"sh", "-i"}, TTY: true}
	err := e.client.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("p").SubResource("exec").
		VersionedParams(options, scheme.ParameterCodec).Do(t.Context()).Error()
	servertest.WantStatus(t, err, 403, "", `admission webhook "v.example.com" denied the request: no shells`)
	got := e.one()
	if summary(got) != "CONNECT /v1, Kind=PodExecOptions /v1, Resource=pods/exec default/p" {
		t.Errorf("got %s", summary(got))
	}
	options.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PodExecOptions"}
	if diff := cmp.Diff(options, decodeAs(t, got.Object, &corev1.PodExecOptions{})); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestReviewOfAProxyRequest(t *testing.T) {
	e := start(t)
	must(t, e.client.CoreV1().Pods("default").Create, pod("p"))
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules = rules("CONNECT", "", "v1", "pods/proxy") })
	e.handle("/v", deny(&metav1.Status{Message: "no proxies"}))
	for path, want := range map[string]string{"": "", "/": "/", "/a": "/a", "/a/": "/a/"} {
		err := e.client.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/pods/p/proxy" + path).Do(t.Context()).Error()
		servertest.WantStatus(t, err, 400, "", `admission webhook "v.example.com" denied the request: no proxies`)
		if got := decodeAs(t, e.one().Object, &corev1.PodProxyOptions{}).Path; got != want {
			t.Errorf("path %q of the options for the path %q, want %q", got, path, want)
		}
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

func TestSubresources(t *testing.T) {
	e := start(t)
	deployments := e.client.AppsV1().Deployments("default")
	labels := map[string]string{"a": "b"}
	must(t, deployments.Create, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("").Spec,
		}},
	})
	must(t, e.client.CoreV1().Pods("default").Create, pod("p"))
	e.mutating("m", func(w *admissionregistrationv1.MutatingWebhook) {
		w.Rules = append(rules("UPDATE", "apps", "v1", "*/scale */status"), rules("*", "", "v1", "pods pods/*")...)
	})
	e.handle("/m", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if r.SubResource == "scale" {
			return patch(`[{"op":"replace","path":"/spec/replicas","value":7}]`)(r)
		}
		return allow()
	})
	scale, err := deployments.UpdateScale(t.Context(), "d", &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "default"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3},
	}, metav1.UpdateOptions{})
	if err != nil || scale.Spec.Replicas != 7 {
		t.Errorf("scale %v, error %v", scale, err)
	}
	if got := summary(e.one()); got != "UPDATE autoscaling/v1, Kind=Scale apps/v1, Resource=deployments/scale default/d" {
		t.Errorf("got %s", got)
	}
	if _, err := deployments.Patch(t.Context(), "d", types.MergePatchType, []byte(`{"status":{"replicas":2}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	if got := summary(e.one()); got != "UPDATE apps/v1, Kind=Deployment apps/v1, Resource=deployments/status default/d" {
		t.Errorf("got %s", got)
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}}
	if err := e.client.CoreV1().Pods("default").EvictV1(t.Context(), eviction); err != nil {
		t.Fatal(err)
	}
	// The deletion of the evicted pod is not reviewed a second time.
	if got := summary(e.one()); got != "CREATE policy/v1, Kind=Eviction /v1, Resource=pods/eviction default/p" {
		t.Errorf("got %s", got)
	}
}

func TestEquivalentVersions(t *testing.T) {
	e := start(t)
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "h"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}, MaxReplicas: 5,
		},
	}
	e.mutating("exact", func(w *admissionregistrationv1.MutatingWebhook) {
		w.Rules, w.MatchPolicy = rules("*", "autoscaling", "v1", "*"), new(admissionregistrationv1.Exact)
	})
	e.mutating("other", func(w *admissionregistrationv1.MutatingWebhook) {
		w.Rules = rules("*", "autoscaling", "v1", "horizontalpodautoscalers")
	})
	e.handle("/other", patch(`[{"op":"add","path":"/spec/targetCPUUtilizationPercentage","value":55}]`))
	created := must(t, e.client.AutoscalingV2().HorizontalPodAutoscalers("default").Create, scaler)
	got := e.one()
	if summary(got) != "CREATE autoscaling/v1, Kind=HorizontalPodAutoscaler autoscaling/v1, Resource=horizontalpodautoscalers default/h" ||
		got.RequestKind.Version != "v2" || got.RequestResource.Version != "v2" {
		t.Errorf("got %s, requested %v", summary(got), got.RequestKind)
	}
	decodeAs(t, got.Object, &autoscalingv1.HorizontalPodAutoscaler{})
	if *created.Spec.Metrics[0].Resource.Target.AverageUtilization != 55 {
		t.Errorf("created %v", created.Spec)
	}
	if err := e.client.AutoscalingV2().HorizontalPodAutoscalers("default").Delete(t.Context(), "h", metav1.DeleteOptions{}); err == nil {
		t.Error("a patch of a deletion was accepted")
	}
	if got := e.one(); got.RequestKind.Version != "v2" || got.Kind.Version != "v1" {
		t.Errorf("kind %v, request kind %v", got.Kind, got.RequestKind)
	}
	e.remove("other")
	e.validating("events", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.Rules = rules("CREATE", "events.k8s.io", "v1", "events")
	})
	must(t, e.client.CoreV1().Events("default").Create, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: corev1.ObjectReference{Namespace: "default"},
	})
	if got := summary(e.one()); got != "CREATE events.k8s.io/v1, Kind=Event events.k8s.io/v1, Resource=events default/e" {
		t.Errorf("got %s", got)
	}
}

func TestReviewVersionV1beta1(t *testing.T) {
	e := start(t)
	e.mutating("m", func(w *admissionregistrationv1.MutatingWebhook) {
		w.AdmissionReviewVersions = []string{"v2", "v1beta1", "v1"}
	})
	e.handle("/m", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, UID: "any", Patch: []byte(`[{"op":"add","path":"/data","value":{"a":"b"}}]`)}
	})
	created, err := e.create(configMap("c"))
	if err != nil || created.Data["a"] != "b" {
		t.Errorf("created %v, error %v", created, err)
	}
	if got := e.one(); got.version != "admission.k8s.io/v1beta1" || got.Kind.Kind != "ConfigMap" {
		t.Errorf("received %v", got)
	}
}

func TestNamespaceSelectorsMatchNamespaces(t *testing.T) {
	e := start(t)
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.Rules = rules("*", "", "v1", "namespaces")
		w.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}
	})
	namespaces := e.client.CoreV1().Namespaces()
	created := must(t, namespaces.Create, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	created.Labels["guarded"] = "yes"
	if _, err := namespaces.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := summary(e.one()); got != "UPDATE /v1, Kind=Namespace /v1, Resource=namespaces n/n" {
		t.Errorf("got %s", got)
	}
	if err := namespaces.Delete(context.WithoutCancel(t.Context()), "n", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := summary(e.one()); got != "DELETE /v1, Kind=Namespace /v1, Resource=namespaces n/n" {
		t.Errorf("got %s", got)
	}
}
