package crd_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	crdclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// group of all resources that tests define.
const group = "example.com"

// env is a server and its clients.
type env struct {
	*testing.T
	server      *miniapi.Server
	definitions crdclient.CustomResourceDefinitionInterface
	client      dynamic.Interface
	rest        rest.Interface // sends any request
	warnings    servertest.Warnings
}

func start(t *testing.T) *env { return startWith(t, miniapi.Config{}) }

func startWith(t *testing.T, config miniapi.Config) *env {
	t.Helper()
	server, err := miniapi.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-server.Done(): // stopped by the test
		default:
			if err := servertest.Stop(server); err != nil {
				t.Error(err)
			}
		}
	})
	e := &env{T: t, server: server}
	cfg := server.RESTConfig()
	cfg.WarningHandler = &e.warnings
	client := servertest.HTTPClient(t, cfg)
	definitions, err := clientset.NewForConfigAndClient(cfg, client)
	if err == nil {
		e.client, err = dynamic.NewForConfigAndClient(cfg, client)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.definitions = definitions.ApiextensionsV1().CustomResourceDefinitions()
	e.rest = definitions.ApiextensionsV1().RESTClient()
	return e
}

type definition = apiextensionsv1.CustomResourceDefinition

// define returns the definition of widgets with one version, v1, whose schema has these properties.
func define(properties string, edits ...func(*definition)) *definition {
	d := &definition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group:    group,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Scope:    apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{versionOf("v1", properties)},
		},
	}
	d.Spec.Versions[0].Storage = true
	for _, edit := range edits {
		edit(d)
	}
	return d
}

func versionOf(name, properties string) apiextensionsv1.CustomResourceDefinitionVersion {
	props := &apiextensionsv1.JSONSchemaProps{Type: "object"}
	if err := yaml.UnmarshalStrict([]byte(properties), &props.Properties); err != nil {
		panic(err)
	}
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
	}
}

// renamedTo renames the resource of a definition.
func renamedTo(name, kind string) func(*definition) {
	return func(d *definition) {
		d.Name = name + "." + group
		d.Spec.Names.Plural, d.Spec.Names.Kind = name, kind
	}
}

func withStatus(d *definition) {
	for i := range d.Spec.Versions {
		d.Spec.Versions[i].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
}

// preserveUnknownFields is a schema that allows any spec and status.
const preserveUnknownFields = `{spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}`

// create creates a definition and returns when it is served.
func (e *env) create(d *definition) *definition {
	e.Helper()
	created, err := e.definitions.Create(e.Context(), d, metav1.CreateOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return created
}

// change updates the latest state of a definition.
func (e *env) change(name string, edit func(*definition)) {
	e.Helper()
	for {
		d, err := e.definitions.Get(e.Context(), name+"."+group, metav1.GetOptions{})
		if err != nil {
			e.Fatal(err)
		}
		edit(d)
		_, err = e.definitions.Update(e.Context(), d, metav1.UpdateOptions{})
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			e.Fatal(err)
		}
	}
}

// awaitDefinition waits until a definition satisfies a condition. A deleted definition is nil.
func (e *env) awaitDefinition(name string, satisfies func(*definition) bool) {
	e.Helper()
	only := metav1.ListOptions{FieldSelector: "metadata.name=" + name + "." + group, SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	w, err := e.definitions.Watch(e.Context(), only)
	if err != nil {
		e.Fatal(err)
	}
	defer w.Stop()
	var d *definition
	for event := range w.ResultChan() {
		switch event.Type {
		case watch.Bookmark:
		case watch.Deleted:
			d = nil
		default:
			d = event.Object.(*definition)
			if !satisfies(d) {
				continue
			}
			return
		}
		if satisfies(d) {
			return
		}
	}
	e.Fatalf("the watch of %s ended", name)
}

// condition returns the status, reason and message of a condition.
func condition(d *definition, name apiextensionsv1.CustomResourceDefinitionConditionType) string {
	for _, c := range d.Status.Conditions {
		if c.Type == name {
			return string(c.Status) + " " + c.Reason + ": " + c.Message
		}
	}
	return ""
}

// widgets returns the client of a version of the widgets in the namespace default.
func (e *env) widgets(version string) dynamic.ResourceInterface {
	return e.client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: "widgets"}).Namespace("default")
}

// object returns a widget in a version.
func object(version, name, body string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	text, err := yaml.YAMLToJSON([]byte(body))
	if err == nil && body != "" {
		err = kjson.UnmarshalCaseSensitivePreserveInts(text, &u.Object)
	}
	if err != nil {
		panic(err)
	}
	u.SetAPIVersion(group + "/" + version)
	u.SetKind("Widget")
	u.SetName(name)
	return u
}

// widget creates a widget in v1.
func (e *env) widget(name, body string) *unstructured.Unstructured {
	e.Helper()
	created, err := e.widgets("v1").Create(e.Context(), object("v1", name, body), metav1.CreateOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return created
}

// get returns a widget in a version.
func (e *env) get(version, name string) *unstructured.Unstructured {
	e.Helper()
	u, err := e.widgets(version).Get(e.Context(), name, metav1.GetOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return u
}

// list returns all widgets in a version.
func (e *env) list(version string) *unstructured.UnstructuredList {
	e.Helper()
	list, err := e.widgets(version).List(e.Context(), metav1.ListOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return list
}

// stored returns the apiVersion and spec of a widget in etcd.
func (e *env) stored(name string) string {
	e.Helper()
	response, err := e.server.EtcdClient().Get(e.Context(), "/registry/"+group+"/widgets/default/"+name)
	if err != nil || len(response.Kvs) != 1 {
		e.Fatal(response, err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(response.Kvs[0].Value); err != nil {
		e.Fatal(err)
	}
	return u.GetAPIVersion() + " " + spec(u)
}

// spec returns the spec of a widget as JSON, "" if there is none.
func spec(u *unstructured.Unstructured) string { return field(u, "spec") }

func field(u *unstructured.Unstructured, name string) string {
	value, ok := u.Object[name]
	if !ok {
		return ""
	}
	return toJSON(value)
}

// next returns the next event of a watch, except bookmarks.
func (e *env) next(w watch.Interface) watch.Event {
	e.Helper()
	for event := range w.ResultChan() {
		if event.Type != watch.Bookmark {
			return event
		}
	}
	e.Fatal("the watch ended")
	return watch.Event{}
}
