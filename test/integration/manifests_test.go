package integration_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// definition returns a CustomResourceDefinition with an integer field spec.size.
func definition(plural, kind string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.example.org}
spec:
  group: example.org
  names: {plural: ` + plural + `, kind: ` + kind + `}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}
`
}

const widget = `
apiVersion: example.org/v1
kind: Widget
metadata: {name: one}
spec: {size: 1}
`

const listed = `
apiVersion: v1
kind: ConfigMap
metadata: {name: listed, namespace: ours}
data: {version: "1"}
`

// write creates a file and returns its path.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	check(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func widgets(t *testing.T, server *miniapi.Server) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.RESTConfig())
	check(t, err)
	return client.Resource(schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}).Namespace("default")
}

func TestCRDsAreInstalled(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", definition("widgets", "Widget")+"---\n"+definition("gadgets", "Gadget")+"---\n"+listed)
	for name, install := range map[string]func(t *testing.T) *miniapi.Server{
		"by Config.CRDs": func(t *testing.T) *miniapi.Server {
			return servertest.Start(t, miniapi.Config{CRDs: []string{dir}})
		},
		"by InstallCRDs over TLS": func(t *testing.T) *miniapi.Server {
			server := servertest.Start(t, miniapi.Config{Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC})
			check(t, server.InstallCRDs(t.Context(), dir))
			return server
		},
		"twice": func(t *testing.T) *miniapi.Server {
			server := servertest.Start(t, miniapi.Config{CRDs: []string{dir}})
			check(t, server.InstallCRDs(t.Context(), dir))
			return server
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := install(t)
			one := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "one"},
			}}
			_, err := widgets(t, server).Create(t.Context(), one, metav1.CreateOptions{})
			check(t, err)
			configMaps, err := clientset(t, server).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			check(t, err)
			if len(configMaps.Items) > 0 {
				t.Errorf("other objects were applied: %v", configMaps.Items)
			}
		})
	}
}

func TestCRDErrorsNameFileAndObject(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	for name, c := range map[string]struct{ content, want string }{
		"invalid":      {strings.ReplaceAll(definition("widgets", "Widget"), "scope: Namespaced", "scope: Nowhere"), `crd.yaml: CustomResourceDefinition widgets.example.org: CustomResourceDefinition.apiextensions.k8s.io "widgets.example.org" is invalid: spec.scope: Unsupported value: "Nowhere"`},
		"not accepted": {definition("widgets", "Widget") + "---\n" + definition("others", "Widget"), `crd.yaml: CustomResourceDefinition others.example.org: its names are not accepted: "WidgetList" is already in use`},
		"not YAML":     {"a: b: c", "crd.yaml: document 1 is not an object in YAML or JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := miniapi.Start(t.Context(), miniapi.Config{CRDs: []string{write(t, dir, "crd.yaml", c.content)}})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant one line with %s", err, c.want)
			}
		})
	}
}

// The order of files and documents does not matter.
func TestManifestsAreAppliedAtStart(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "1.yaml", widget+"---\n"+listed)
	write(t, dir, "2.json", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ours"}}`)
	write(t, dir, "3.yml", definition("widgets", "Widget"))
	server := servertest.Start(t, miniapi.Config{Manifests: dir})
	_, err := widgets(t, server).Get(t.Context(), "one", metav1.GetOptions{})
	check(t, err)
	configMap, err := clientset(t, server).CoreV1().ConfigMaps("ours").Get(t.Context(), "listed", metav1.GetOptions{})
	check(t, err)
	if manager := configMap.ManagedFields[0]; manager.Manager != "miniapi" || manager.Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("field manager %s (%s)", manager.Manager, manager.Operation)
	}
}

func TestManifestErrorsNameFileAndObject(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", listed+"---\n"+widget+"---\nkind: Nothing\nmetadata: {name: none}\n")
	_, err := miniapi.Start(t.Context(), miniapi.Config{Manifests: dir})
	if err == nil {
		t.Fatal("Start succeeded")
	}
	for _, want := range []string{
		`a.yaml: ConfigMap ours/listed: namespaces "ours" not found`,
		"a.yaml: Widget one: the server has no kind Widget in example.org/v1: is its CustomResourceDefinition missing?",
		"a.yaml: Nothing none: apiVersion and kind are required",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant a line with %s", err, want)
		}
	}
}

func TestChangedManifestsAreApplied(t *testing.T) {
	dir := t.TempDir()
	mine := strings.ReplaceAll(listed, "ours", "default")
	path := write(t, dir, "a.yaml", mine)
	logged := make(chan string, 100)
	server := servertest.Start(t, miniapi.Config{Manifests: dir, Logger: slog.New(slog.NewTextHandler(lines(logged), &slog.HandlerOptions{Level: slog.LevelError}))})
	configMaps := clientset(t, server).CoreV1().ConfigMaps("default")
	watcher, err := configMaps.Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer watcher.Stop()
	await := func(name, version string) {
		t.Helper()
		for event := range watcher.ResultChan() {
			if object := event.Object.(*corev1.ConfigMap); object.Name == name && object.Data["version"] == version {
				return
			}
		}
		t.Fatal("the watch has ended")
	}

	write(t, dir, "a.yaml", strings.ReplaceAll(mine, `"1"`, `"2"`))
	await("listed", "2")
	check(t, os.Remove(path))
	write(t, dir, "b.yaml", widget)
	if line := <-logged; !strings.Contains(line, "b.yaml: Widget one: the server has no kind Widget") {
		t.Errorf("logged: %s", line)
	}
	// A failed file is applied again when another file changes.
	write(t, dir, "c.yaml", definition("widgets", "Widget")+"---\n"+strings.ReplaceAll(mine, "listed", "last"))
	await("last", "1")
	ones, err := widgets(t, server).Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	defer ones.Stop()
	if event := <-ones.ResultChan(); event.Type != watch.Added {
		t.Errorf("got %v", event)
	}
	_, err = configMaps.Get(t.Context(), "listed", metav1.GetOptions{})
	check(t, err) // although its file was removed
}

// lines is a Writer that sends each line.
type lines chan<- string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}
