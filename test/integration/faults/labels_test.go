package faults_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/faults"
)

// TestLabelSelector sends requests for objects with and without the label app=web. A selected
// request fails.
func TestLabelSelector(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) { testLabelSelector(t, contentType) })
	}
}

func testLabelSelector(t *testing.T, contentType string) {
	e := start(t)
	config := rest.CopyConfig(e.server.RESTConfig())
	config.ContentType = contentType
	maps := servertest.Client(e, config).CoreV1().ConfigMaps("default")
	ctx := t.Context()
	create := func(name string, labels map[string]string) error {
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		return err
	}
	web, db := map[string]string{"app": "web"}, map[string]string{"app": "db"}
	e.check(create("web", web))
	e.check(create("db", db))
	defer e.faults.Error(faults.On("").Labelled("app=web"), 503).Remove()
	get := func(name string) error { _, err := maps.Get(ctx, name, metav1.GetOptions{}); return err }
	update := func(name string, labels map[string]string) error {
		_, err := maps.Update(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.UpdateOptions{})
		return err
	}
	list := func(selector string) error {
		_, err := maps.List(ctx, metav1.ListOptions{LabelSelector: selector})
		return err
	}
	for _, test := range []struct {
		rule string
		err  error
		hit  bool
	}{
		{"a create with the label", create("new", web), true},
		{"a create with another label", create("other", db), false},
		{"a get of an object with the label", get("web"), true},
		{"a get of another object", get("db"), false},
		{"an update that removes the label", update("web", nil), true},
		{"an update that adds the label", update("db", web), false},
		{"a delete of an object that has the label now", maps.Delete(ctx, "db", metav1.DeleteOptions{}), true},
		{"a list that selects the label", list("app=web,tier=x"), true},
		{"a list that selects another label", list("app=db"), false},
		{"a list that allows several labels", list("app in (web,db)"), false},
		{"a list of all objects", list(""), false},
	} {
		if hit := apierrors.IsServiceUnavailable(test.err); hit != test.hit {
			t.Errorf("%s: %v", test.rule, test.err)
		}
	}
	patch := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied","labels":{"app":"web"}}}`)
	if _, err := maps.Patch(ctx, "applied", types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: "test"}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("an apply that creates an object with the label: %v", err)
	}
}
