package crd_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/miniapi/miniapi"
)

// errorLog fails a test if the server logged an error.
type errorLog struct {
	slog.Handler
	t *testing.T
}

// Enabled implements slog.Handler.
func (errorLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle implements slog.Handler.
func (l errorLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	l.t.Errorf("the server logged an error: %s", text)
	return nil
}

// WithAttrs implements slog.Handler.
func (l errorLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l errorLog) WithGroup(string) slog.Handler { return l }

// fixedObjects are objects that do not change while their definition does.
type fixedObjects struct {
	*env
	names []string
	mu    sync.Mutex     // guards reads
	reads map[string]int // number of reads by kind, for the log
}

// TestReadsDuringChangesOfTheDefinition changes the spec of a definition while clients
// read the objects: each response has all objects, and an informer never reports a deletion.
func TestReadsDuringChangesOfTheDefinition(t *testing.T) {
	const objects, changes = 20, 60
	c := &fixedObjects{env: startWith(t, miniapi.Config{Logger: slog.New(errorLog{t: t})}), reads: map[string]int{}}
	c.create(define(preserveUnknownFields, func(d *definition) { d.Spec.Versions = append(d.Spec.Versions, versionOf("v2", preserveUnknownFields)) }))
	for i := range objects {
		c.names = append(c.names, c.widget(fmt.Sprintf("w%02d", i), "spec: {a: 1}").GetName())
	}
	informed := c.runInformer()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var clients sync.WaitGroup
	for _, read := range []func(context.Context) error{c.getOne, c.listLatest, c.listAny, c.watchList} {
		clients.Go(func() {
			for ctx.Err() == nil {
				if err := read(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range changes {
		c.change("widgets", func(d *definition) { changeSpec(d, i) })
	}
	cancel()
	clients.Wait()
	c.checkInformer(informed)
	t.Logf("reads: %v", c.reads)
}

// changeSpec changes the schema and the storage version of a definition.
func changeSpec(d *definition, i int) {
	versions := d.Spec.Versions
	versions[0].Schema.OpenAPIV3Schema.Properties[fmt.Sprintf("p%d", i)] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	versions[0].Storage, versions[1].Storage = i%2 == 0, i%2 == 1
}

func (c *fixedObjects) countRead(read string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads[read]++
}

func (c *fixedObjects) getOne(ctx context.Context) error {
	c.countRead("get")
	_, err := c.widgets("v1").Get(ctx, c.names[0], metav1.GetOptions{})
	return err
}

func (c *fixedObjects) listLatest(ctx context.Context) error { return c.listWith(ctx, "v1", "") }
func (c *fixedObjects) listAny(ctx context.Context) error    { return c.listWith(ctx, "v2", "0") }

func (c *fixedObjects) listWith(ctx context.Context, version, resourceVersion string) error {
	c.countRead("list")
	list, err := c.widgets(version).List(ctx, metav1.ListOptions{ResourceVersion: resourceVersion})
	if err == nil && len(list.Items) != len(c.names) {
		err = fmt.Errorf("a list with resourceVersion %q, of revision %s, has %d of %d objects",
			resourceVersion, list.GetResourceVersion(), len(list.Items), len(c.names))
	}
	return err
}

// watchList watches until the initial events are complete or the watch ends.
func (c *fixedObjects) watchList(ctx context.Context) error {
	c.countRead("watch")
	watcher, err := c.widgets("v1").Watch(ctx, metav1.ListOptions{
		SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	added := 0
	for event := range watcher.ResultChan() {
		switch event.Type {
		case watch.Added:
			added++
		case watch.Bookmark:
			if event.Object.(*unstructured.Unstructured).GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
				continue
			}
			if added != len(c.names) {
				return fmt.Errorf("the initial events end after %d of %d objects", added, len(c.names))
			}
			return nil
		default:
			return fmt.Errorf("a watch sends %s: %s", event.Type, toJSON(event.Object))
		}
	}
	return nil
}

// runInformer starts an informer that fails the test for each deletion.
func (c *fixedObjects) runInformer() dynamicinformer.DynamicSharedInformerFactory {
	c.Helper()
	factory := dynamicinformer.NewDynamicSharedInformerFactory(c.client, 0)
	informer := factory.ForResource(widgetsResource()).Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		c.Errorf("the informer reports the deletion of %v", obj)
	}}); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(factory.Shutdown) // the informers end with the context of the test
	factory.Start(c.Context().Done())
	factory.WaitForCacheSync(c.Context().Done())
	return factory
}

func widgetsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
}

// checkInformer creates another object, waits until the informer has it, and compares the objects.
func (c *fixedObjects) checkInformer(factory dynamicinformer.DynamicSharedInformerFactory) {
	c.Helper()
	informer := factory.ForResource(widgetsResource()).Informer()
	last := make(chan struct{})
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*unstructured.Unstructured).GetName() == "last" {
			close(last)
		}
	}}); err != nil {
		c.Fatal(err)
	}
	c.names = append(c.names, "last")
	c.widget("last", "")
	select {
	case <-last:
	case <-time.After(5 * time.Minute): // a reflector whose watches were short waits up to a minute
		c.Fatal("the informer does not see the last object")
	}
	if keys := informer.GetStore().ListKeys(); len(keys) != len(c.names) {
		c.Errorf("the informer has %d of %d objects", len(keys), len(c.names))
	}
}
