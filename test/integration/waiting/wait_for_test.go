package waiting_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// soon returns a context that ends soon, for waits that fail.
func (e *env) soon() context.Context {
	ctx, cancel := context.WithTimeout(e.Context(), 50*time.Millisecond)
	e.Cleanup(cancel)
	return ctx
}

func (e *env) patch(name, patch string) {
	e.Helper()
	_, err := e.client.CoreV1().ConfigMaps("default").Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "painter"})
	e.check(err)
}

func TestWaitForReturnsWhenTheConditionIsMet(t *testing.T) {
	e := start(t, miniapi.Config{Controllers: []string{"*", "deployment", "replicaset"}, Pods: miniapi.PodsInstant})
	_, err := e.client.AppsV1().Deployments("default").Create(t.Context(), deployment("web", 3), metav1.CreateOptions{})
	e.check(err)
	for _, object := range []string{"deploy/web", "deployment/web", "Deployment.apps/web", "deployments.apps/default/web"} {
		e.check(e.server.WaitFor(t.Context(), object, "object.status.readyReplicas == object.spec.replicas && object.kind == 'Deployment'"))
	}
	e.check(e.server.WaitFor(t.Context(), "ns/default", "self.status.phase == 'Active'"))
}

// A wait whose time is over before it begins gives the same answers.
func TestWaitForChecksAtLeastOnce(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.createConfigMap(configMap("a"))
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	e.check(e.server.WaitFor(ended, "cm/a", "object.metadata.name == 'a'"))
	e.check(e.server.WaitForDeletion(ended, "cm/absent"))
	for object, want := range map[string]string{"cm/a": "object.metadata.name is a", "cm/b": "the object does not exist"} {
		err := e.server.WaitFor(ended, object, "object.metadata.name == 'b' && object.kind == 'Pod'")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%s: error %v", object, err)
		}
		wantTexts(t, err.Error(), want)
	}
}

// The wait begins before the object exists, and sees a state that lasts only until the next write.
func TestWaitForSeesEachState(t *testing.T) {
	e := start(t, miniapi.Config{})
	var waiting sync.WaitGroup
	begun := make(chan struct{}, 10)
	waiting.Go(func() {
		err := e.server.WaitForFunc(t.Context(), "cm/a", func(obj *unstructured.Unstructured) bool {
			begun <- struct{}{}
			value, _, _ := unstructured.NestedString(obj.Object, "data", "color")
			return value == "red"
		})
		if err != nil {
			t.Error(err)
		}
	})
	e.createConfigMap(configMap("a"))
	<-begun // the wait has seen the object
	for _, color := range []string{"red", "green"} {
		e.patch("a", `{"data":{"color":"`+color+`"}}`)
	}
	waiting.Wait()
}

func TestWaitForDeletion(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.check(e.server.WaitForDeletion(t.Context(), "cm/absent"))
	obj := configMap("a")
	obj.Finalizers = []string{"example.com/hold"}
	e.createConfigMap(obj)
	e.check(e.client.CoreV1().ConfigMaps("default").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	err := e.server.WaitForDeletion(e.soon(), "cm/a")
	wantTexts(t, err.Error(), "cm/a does not meet deletion: context deadline exceeded", "the object exists", "example.com/hold")
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if err := e.server.WaitForDeletion(t.Context(), "cm/a"); err != nil {
			t.Error(err)
		}
	})
	e.patch("a", `{"metadata":{"finalizers":null}}`)
	waiting.Wait()
}

func TestWaitForSaysWhatIsMissing(t *testing.T) {
	e := start(t, miniapi.Config{})
	config := rest.CopyConfig(e.server.RESTConfig())
	config.UserAgent = "painter/v1"
	painter := servertest.Client(e, config)
	obj := configMap("a")
	obj.Data = map[string]string{"color": "green"}
	_, err := painter.CoreV1().ConfigMaps("default").Create(t.Context(), obj, metav1.CreateOptions{})
	e.check(err)

	err = e.server.WaitFor(e.soon(), "cm/a", "object.data.color == 'red' && object.data.size == 'large'")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	wantTexts(t, err.Error(), "cm/a does not meet object.data.color == 'red' && object.data.size == 'large': context deadline exceeded",
		`object.data.color == "red" is false, object.data.color is green; object.data.size == "large": no such key: size`,
		"last write: resourceVersion ", ", create by painter (system:admin) ", "\n\t    color: green")
	if strings.Contains(err.Error(), "managedFields") {
		t.Errorf("managedFields are shown: %v", err)
	}

	e.check(painter.CoreV1().ConfigMaps("default").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	err = e.server.WaitFor(e.soon(), "cm/a", "true")
	wantTexts(t, err.Error(), "the object does not exist")
}

func TestWaitForShowsABoundedState(t *testing.T) {
	e := start(t, miniapi.Config{})
	obj := configMap("a")
	obj.Data = map[string]string{"lines": strings.Repeat("line\n", 500)}
	e.createConfigMap(obj)
	err := e.server.WaitForFunc(e.soon(), "cm/a", func(*unstructured.Unstructured) bool { return false })
	wantTexts(t, err.Error(), "the condition is false", "more lines")
	if n := strings.Count(err.Error(), "\n"); n > 100 {
		t.Errorf("%d lines", n)
	}
}

func TestWaitForRejectsInvalidArguments(t *testing.T) {
	e := start(t, miniapi.Config{})
	for object, want := range map[string]string{
		"web":          "does not name an object: use TYPE/NAME",
		"cm/a/b/c":     "does not name an object",
		"wheels/a":     `the server has no resource type "wheels"`,
		"pods.apps/a":  `the server has no resource type "pods.apps"`,
		"node/ns/a":    "nodes have no namespace: use node/a",
		"cm/default/a": "the condition is not valid CEL",
	} {
		if err := e.server.WaitFor(t.Context(), object, "object."); err == nil || !strings.Contains(err.Error(), want) {
			if err = e.server.WaitForDeletion(t.Context(), object); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", object, err, want)
			}
		}
	}
}

func TestWaitForServesTypesThatWereDefinedBefore(t *testing.T) {
	e := start(t, miniapi.Config{})
	definition := `{"metadata": {"name": "wheels.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
		"names": {"plural": "wheels", "kind": "Wheel"}, "versions": [{"name": "v1", "served": true, "storage": true,
		"schema": {"openAPIV3Schema": {"type": "object"}}}]}}`
	path := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	e.check(e.client.RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body([]byte(definition)).Do(t.Context()).Error())
	e.check(e.server.WaitForDeletion(t.Context(), "wheels/a"))
}

func TestWaitForEndsWithTheServer(t *testing.T) {
	e := start(t, miniapi.Config{})
	var waiting sync.WaitGroup
	checked := make(chan struct{}, 10)
	e.createConfigMap(configMap("a"))
	waiting.Go(func() {
		err := e.server.WaitForFunc(t.Context(), "cm/a", func(*unstructured.Unstructured) bool {
			checked <- struct{}{}
			return false
		})
		if err == nil || !strings.Contains(err.Error(), "the server has stopped") {
			t.Errorf("error %v", err)
		}
	})
	<-checked
	e.check(servertest.Stop(e.server))
	waiting.Wait()
	if err := e.server.WaitForDeletion(t.Context(), "cm/a"); err == nil || !strings.Contains(err.Error(), "the server has stopped") {
		t.Errorf("a wait after the end: %v", err)
	}
}
