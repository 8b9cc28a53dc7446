package controllers_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
)

var (
	widgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// unreachable adds a version whose conversion fails. It is the preferred version.
const unreachable = `
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/"}}
`

func (e *env) install(definition string) {
	e.Helper()
	file := filepath.Join(e.TempDir(), "crd.yaml")
	e.check(os.WriteFile(file, []byte(strings.TrimSpace(definition)), 0o600))
	e.check(e.server.InstallCRDs(e.Context(), file))
}

func (e *env) createWidget(namespace, name string) *unstructured.Unstructured {
	e.Helper()
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
	}}
	widget, err := e.dynamic.Resource(widgets).Namespace(namespace).Create(e.Context(), widget, metav1.CreateOptions{})
	e.check(err)
	return widget
}

func TestCustomResourcesAreDeletedWithTheirNamespace(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("n")
	e.install(widgetDefinition)
	e.createWidget("n", "w")
	e.createWidget(namespace, "kept")
	e.deleteNamespace("n")
	e.awaitNamespaceGone("n")
	list, err := e.dynamic.Resource(widgets).List(t.Context(), metav1.ListOptions{})
	e.check(err)
	if len(list.Items) != 1 || list.Items[0].GetName() != "kept" {
		t.Errorf("widgets %v", list.Items)
	}
}

// The catalog does not serve custom resources yet when a restarted server continues a deletion.
func TestRestartContinuesTheDeletionOfCustomResources(t *testing.T) {
	config := miniapi.Config{DataDir: t.TempDir()}
	off := config
	off.Controllers = []string{"-*"}
	e := start(t, off)
	e.createNamespace("n")
	e.install(widgetDefinition)
	e.createWidget("n", "w")
	owner := e.createWidget(namespace, "owner")
	e.createConfigMap(namespace, "child", ownedByWidget(owner))
	e.deleteNamespace("n")
	e.stop()
	e = start(t, config)
	e.awaitNamespaceGone("n")
	e.flush()
	e.wantPresent("child")
	list, err := e.dynamic.Resource(widgets).List(t.Context(), metav1.ListOptions{})
	e.check(err)
	if len(list.Items) != 1 {
		t.Errorf("widgets %v", list.Items)
	}
}

func ownedByWidget(owner *unstructured.Unstructured) func(*corev1.ConfigMap) {
	return ownedBy(metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: owner.GetName(), UID: owner.GetUID()})
}

// refuseDeletions installs a webhook for deletions of ConfigMaps in a namespace that cannot be
// called. The function removes it.
func (e *env) refuseDeletions(in string) (allow func()) {
	e.Helper()
	fail, none, url := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, "https://127.0.0.1:1/"
	hooks := e.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := hooks.Create(e.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "refuse"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "refuse.example.com", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &url},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: in}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Delete},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}, metav1.CreateOptions{})
	e.check(err)
	return func() { e.check(hooks.Delete(e.Context(), "refuse", metav1.DeleteOptions{})) }
}

// A refused deletion is reported, holds up nothing else, and is repeated.
func TestRefusedDeletions(t *testing.T) {
	e := start(t, miniapi.Config{})
	for _, name := range []string{"refused", "free"} {
		e.createNamespace(name)
		e.createConfigMap(name, "m")
	}
	_, err := e.client.CoreV1().Secrets("refused").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
	e.check(err)
	allow := e.refuseDeletions("refused")
	e.deleteNamespace("refused")
	e.deleteNamespace("free")
	text := e.awaitCondition("refused", corev1.NamespaceDeletionContentFailure, corev1.ConditionTrue)
	if want := `ContentDeletionFailed: Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "refuse.example.com"`; !strings.HasPrefix(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	e.awaitNamespaceGone("free")
	e.await("the end of the secret", func(ctx context.Context) bool {
		_, err := e.client.CoreV1().Secrets("refused").Get(ctx, "s", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	allow()
	e.awaitNamespaceGone("refused")
}

// The same for the collector.
func TestRefusedCollection(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("refused")
	allow := e.refuseDeletions("refused")
	absent := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "absent", UID: "absent"}
	e.createConfigMap("refused", "m", ownedBy(absent))
	e.flush()
	if _, err := e.client.CoreV1().ConfigMaps("refused").Get(t.Context(), "m", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	allow()
	e.await("the collection", func(ctx context.Context) bool {
		_, err := e.client.CoreV1().ConfigMaps("refused").Get(ctx, "m", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// An object that cannot be converted is reported, and deleted once it can.
func TestFailedConversions(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createNamespace("n")
	e.install(widgetDefinition + unreachable)
	e.createWidget("n", "w")
	e.createConfigMap("n", "m")
	e.deleteNamespace("n")
	text := e.awaitCondition("n", corev1.NamespaceDeletionContentFailure, corev1.ConditionTrue)
	if !strings.Contains(text, "conversion webhook for example.com/v1, Kind=Widget failed") {
		t.Errorf("condition %q", text)
	}
	_, err := e.dynamic.Resource(definitions).Patch(t.Context(), "widgets.example.com", types.MergePatchType,
		[]byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`), metav1.PatchOptions{})
	e.check(err)
	e.awaitNamespaceGone("n")
}

// An object is kept while the kind of its owner is unknown. When the kind appears, its owner is
// looked up.
func TestOwnersOfUnknownKinds(t *testing.T) {
	e := start(t, miniapi.Config{})
	absent := &unstructured.Unstructured{}
	absent.SetName("absent")
	absent.SetUID("absent")
	e.createConfigMap(namespace, "child", ownedByWidget(absent))
	e.flush()
	e.wantPresent("child")
	e.install(widgetDefinition)
	e.awaitGone("child")
}

// The deletion of a definition deletes its objects, and these are owners.
func TestOwnersAreDeletedWithTheirDefinition(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.install(widgetDefinition)
	for _, name := range []string{"a", "b", "c"} {
		e.createConfigMap(namespace, name, ownedByWidget(e.createWidget(namespace, name)))
	}
	e.flush()
	e.wantPresent("a", "b", "c")
	e.check(e.dynamic.Resource(definitions).Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
	e.awaitGone("a", "b", "c")
}

// A custom resource that cannot be converted can own objects.
func TestOwnersThatCannotBeConverted(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.install(widgetDefinition + unreachable)
	e.createConfigMap(namespace, "child", ownedByWidget(e.createWidget(namespace, "owner")))
	e.flush()
	e.wantPresent("child")
}
