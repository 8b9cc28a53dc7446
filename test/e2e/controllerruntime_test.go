package e2e_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

const finalizer = "example.com/hold"

func newClient(t *testing.T, server *miniapi.Server) client.WithWatch {
	t.Helper()
	c, err := client.NewWithWatch(server.RESTConfig(), client.Options{})
	check(t, err)
	return c
}

func TestClientSpeaksProtobufForTypedObjects(t *testing.T) {
	server, seen := servertest.Start(t, miniapi.Config{}), &wire{}
	c, err := client.New(seen.tap(server.RESTConfig()), client.Options{})
	check(t, err)
	check(t, c.Create(t.Context(), newDeployment("web"))) // after discovery
	seen.take()
	web := &appsv1.Deployment{}
	check(t, c.Get(t.Context(), client.ObjectKeyFromObject(newDeployment("web")), web))
	web.Spec.Replicas = new(int32(2))
	check(t, c.Update(t.Context(), web))
	check(t, c.List(t.Context(), &appsv1.DeploymentList{}))
	check(t, c.Delete(t.Context(), web))
	requests, answers := seen.take()
	if i := slices.IndexFunc(answers, func(a string) bool { return a != "application/vnd.kubernetes.protobuf" }); i >= 0 {
		t.Errorf("%s: content type %s", requests[i], answers[i])
	}
	if web.Generation != 2 {
		t.Errorf("generation is %d after a change of the spec", web.Generation)
	}
}

func TestClientUnstructured(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": namespace},
		"data":     map[string]any{"k": "1"},
	}}
	check(t, c.Create(t.Context(), obj))
	stale := obj.DeepCopy()
	check(t, unstructured.SetNestedField(obj.Object, "2", "data", "k"))
	check(t, c.Update(t.Context(), obj))
	if err := c.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("update of a stale copy: %v, want a conflict", err)
	}
	typed := &corev1.ConfigMap{}
	check(t, c.Get(t.Context(), client.ObjectKeyFromObject(obj), typed))
	if typed.Data["k"] != "2" || typed.ResourceVersion != obj.GetResourceVersion() {
		t.Errorf("typed read gives %v at %s, want k=2 at %s", typed.Data, typed.ResourceVersion, obj.GetResourceVersion())
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("ConfigMapList")
	check(t, c.List(t.Context(), list, client.InNamespace(namespace)))
	if len(list.Items) != 1 || list.Items[0].GetKind() != "ConfigMap" {
		t.Errorf("listed %v", list.Items)
	}
}

func TestPatches(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	original := newDeployment("web")
	check(t, c.Create(t.Context(), original))
	changed := func() *appsv1.Deployment {
		web := original.DeepCopy()
		web.Spec.Template.Spec.Containers[0].Image = "nginx:2"
		return web
	}
	check(t, c.Patch(t.Context(), labelled(original, "team", "a"), client.MergeFrom(original))) // another client
	for name, tc := range map[string]struct {
		patch    client.Patch
		conflict bool
	}{
		"a merge patch applies to the latest":                             {client.MergeFrom(original), false},
		"a strategic merge patch too":                                     {client.StrategicMergeFrom(original), false},
		"with optimistic lock, a merge patch from a stale copy conflicts": {client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{}), true},
		"and so does a strategic merge patch":                             {client.StrategicMergeFrom(original, client.MergeFromWithOptimisticLock{}), true},
	} {
		t.Run(name, func(t *testing.T) {
			web := changed()
			err := c.Patch(t.Context(), web, tc.patch, client.DryRunAll)
			if apierrors.IsConflict(err) != tc.conflict || !tc.conflict && err != nil {
				t.Fatalf("got %v, want a conflict: %v", err, tc.conflict)
			}
			if err == nil && (web.Labels["team"] != "a" || web.Spec.Template.Spec.Containers[0].Image != "nginx:2") {
				t.Errorf("response with labels %v and image %s", web.Labels, web.Spec.Template.Spec.Containers[0].Image)
			}
		})
	}
}

func labelled(web *appsv1.Deployment, key, value string) *appsv1.Deployment {
	web = web.DeepCopy()
	metav1.SetMetaDataLabel(&web.ObjectMeta, key, value)
	return web
}

func TestStatusAndSpecAreSeparate(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	web := newDeployment("web")
	web.Status.Replicas = 7
	check(t, c.Create(t.Context(), web))
	if web.Status.Replicas != 0 {
		t.Errorf("create stored the status: %+v", web.Status)
	}
	web.Status.ObservedGeneration, web.Spec.Replicas = web.Generation, new(int32(9))
	check(t, c.Status().Update(t.Context(), web))
	if web.Status.ObservedGeneration != 1 || *web.Spec.Replicas != 1 || web.Generation != 1 {
		t.Errorf("after the update of the status: observed %d, %d replicas, generation %d", web.Status.ObservedGeneration, *web.Spec.Replicas, web.Generation)
	}
	web.Status.ObservedGeneration, web.Spec.Replicas = 5, new(int32(9))
	check(t, c.Update(t.Context(), web))
	if web.Status.ObservedGeneration != 1 || *web.Spec.Replicas != 9 || web.Generation != 2 {
		t.Errorf("after the update of the spec: observed %d, %d replicas, generation %d", web.Status.ObservedGeneration, *web.Spec.Replicas, web.Generation)
	}
	before := web.DeepCopy()
	web.Status.Replicas = 3
	check(t, c.Status().Patch(t.Context(), web, client.MergeFrom(before)))
	if web.Status.Replicas != 3 {
		t.Errorf("after the patch of the status: %+v", web.Status)
	}
}

func TestScaleSubresource(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	web, scale := newDeployment("web"), &autoscalingv1.Scale{}
	check(t, c.Create(t.Context(), web))
	check(t, c.SubResource("scale").Get(t.Context(), web, scale))
	if scale.Spec.Replicas != 1 || scale.Status.Selector != "app=web" || scale.ResourceVersion != web.ResourceVersion {
		t.Errorf("scale is %+v", scale)
	}
	scale.Spec.Replicas = 4
	check(t, c.SubResource("scale").Update(t.Context(), web, client.WithSubResourceBody(scale)))
	check(t, c.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	if *web.Spec.Replicas != 4 || web.Generation != 2 {
		t.Errorf("%d replicas at generation %d", *web.Spec.Replicas, web.Generation)
	}
	scale.ResourceVersion = "1"
	err := c.SubResource("scale").Update(t.Context(), web, client.WithSubResourceBody(scale))
	if !apierrors.IsConflict(err) {
		t.Errorf("update of a stale scale: %v, want a conflict", err)
	}
}

func TestFinalizers(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	held := newConfigMap("held")
	controllerutil.AddFinalizer(held, finalizer)
	check(t, c.Create(t.Context(), held))
	key := client.ObjectKeyFromObject(held)
	check(t, c.Delete(t.Context(), held))
	check(t, c.Get(t.Context(), key, held))
	if held.DeletionTimestamp.IsZero() {
		t.Fatal("no deletionTimestamp after the deletion")
	}
	controllerutil.RemoveFinalizer(held, finalizer)
	check(t, c.Update(t.Context(), held))
	if err := c.Get(t.Context(), key, held); !apierrors.IsNotFound(err) {
		t.Errorf("after the last finalizer: %v, want not found", err)
	}
}

func TestCreateOrUpdate(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	for i, want := range []controllerutil.OperationResult{
		controllerutil.OperationResultCreated, controllerutil.OperationResultNone, controllerutil.OperationResultUpdated,
	} {
		config := newConfigMap("settings")
		got, err := controllerutil.CreateOrUpdate(t.Context(), c, config, func() error {
			config.Data = map[string]string{"round": []string{"one", "one", "two"}[i]}
			return nil
		})
		check(t, err)
		if got != want {
			t.Errorf("round %d: %s, want %s", i, got, want)
		}
	}
}

func TestDeleteAllOf(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	for _, name := range []string{"a", "b", "c"} {
		config := newConfigMap(name)
		config.Labels = map[string]string{"gone": map[bool]string{true: "no", false: "yes"}[name == "c"]}
		check(t, c.Create(t.Context(), config))
	}
	check(t, c.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace(namespace), client.MatchingLabels{"gone": "yes"}))
	var left corev1.ConfigMapList
	check(t, c.List(t.Context(), &left, client.InNamespace(namespace)))
	if len(left.Items) != 1 || left.Items[0].Name != "c" {
		t.Errorf("remaining: %v", left.Items)
	}
}

func TestDeletePreconditions(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	config := newConfigMap("a")
	check(t, c.Create(t.Context(), config))
	stale := config.ResourceVersion
	config.Data["n"] = "1"
	check(t, c.Update(t.Context(), config))
	err := c.Delete(t.Context(), config, client.Preconditions{ResourceVersion: &stale})
	if !apierrors.IsConflict(err) {
		t.Errorf("delete of a stale version: %v, want a conflict", err)
	}
	check(t, c.Delete(t.Context(), config, client.Preconditions{UID: &config.UID, ResourceVersion: &config.ResourceVersion}))
}

func TestMetadataOnly(t *testing.T) {
	server, seen := servertest.Start(t, miniapi.Config{}), &wire{}
	c, err := client.NewWithWatch(seen.tap(server.RESTConfig()), client.Options{})
	check(t, err)
	web := newDeployment("web")
	check(t, c.Create(t.Context(), web))
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
	check(t, c.List(t.Context(), list))
	if len(list.Items) != 1 || list.Items[0].UID != web.UID {
		t.Fatalf("listed %v", list.Items)
	}
	events, err := c.Watch(t.Context(), list, client.InNamespace(namespace))
	check(t, err)
	defer events.Stop()
	first := receive(t, events.ResultChan())
	check(t, c.Delete(t.Context(), web))
	last := receive(t, events.ResultChan())
	if first.Type != watch.Added || last.Type != watch.Deleted {
		t.Errorf("watched %s, %s", first.Type, last.Type)
	}
	partial := last.Object.(*metav1.PartialObjectMetadata)
	if partial.UID != web.UID || partial.ResourceVersion <= web.ResourceVersion {
		t.Errorf("deleted %s at %s, written at %s", partial.UID, partial.ResourceVersion, web.ResourceVersion)
	}
	requests, _ := seen.take()
	if !slices.ContainsFunc(requests, func(r string) bool { return strings.Contains(r, "watch=true") }) {
		t.Errorf("no watch among %v", requests)
	}
}
