package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/memory"
	"github.com/miniapi/miniapi/versioner"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

type codec struct{}

func (codec) Encode(obj runtime.Object) ([]byte, error) {
	return json.Marshal(obj.(*unstructured.Unstructured).Object)
}

func (codec) Decode(data []byte) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	return u, json.Unmarshal(data, &u.Object)
}

// env is a store with the steps of the tests.
type env struct {
	*testing.T
	*memory.Store
}

func newEnv(t *testing.T, config memory.Config) *env {
	config.Codec = codec{}
	return &env{t, memory.New(config)}
}

func key(name string) string { return "/things/" + name }

func object(name, colour string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetName(name)
	u.SetUID(types.UID("uid-" + name))
	u.SetLabels(map[string]string{"colour": colour})
	return u
}

func (e *env) create(name, colour string) *storage.Entry {
	e.Helper()
	entry, err := e.Create(e.Context(), key(name), object(name, colour), storage.CreateOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return entry
}

func paint(colour string) storage.ProposeFunc {
	return func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		obj, err := current.Object()
		if err != nil {
			return storage.Proposal{}, err
		}
		u := obj.(*unstructured.Unstructured).DeepCopy()
		u.SetLabels(map[string]string{"colour": colour})
		return storage.Proposal{Object: u}, nil
	}
}

func (e *env) update(name string, propose storage.ProposeFunc, opts storage.UpdateOptions) *storage.UpdateResult {
	e.Helper()
	result, err := e.GuaranteedUpdate(e.Context(), key(name), propose, opts)
	if err != nil {
		e.Fatal(err)
	}
	return result
}

// describe returns the name, the colour and the resourceVersion of an entry.
func (e *env) describe(entry *storage.Entry) string {
	e.Helper()
	obj, err := entry.Object()
	if err != nil {
		e.Fatal(err)
	}
	accessor, _ := meta.Accessor(obj)
	return fmt.Sprintf("%s %s %s", accessor.GetName(), accessor.GetLabels()["colour"], accessor.GetResourceVersion())
}

func (e *env) wantError(err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("got %v, want %v", err, want)
	}
}

func TestWritesHaveIncreasingRevisions(t *testing.T) {
	e := newEnv(t, memory.Config{})
	var got []string
	got = append(got, e.describe(e.create("a", "red")), e.describe(e.create("b", "red")))
	got = append(got, e.describe(e.update("a", paint("blue"), storage.UpdateOptions{}).Entry))
	if result := e.update("a", paint("blue"), storage.UpdateOptions{}); result.Outcome != storage.Unchanged {
		t.Errorf("an update without a change: %v", result.Outcome)
	}
	deleted, err := e.Delete(t.Context(), key("b"), storage.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, e.describe(deleted))
	if diff := cmp.Diff([]string{"a red 2", "b red 3", "a blue 4", "b red 5"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRejectedWritesChangeNothing(t *testing.T) {
	rejection := errors.New("rejected")
	e := newEnv(t, memory.Config{Commit: func(_, after *storage.Entry) error {
		if after != nil && after.Key == key("forbidden") {
			return rejection
		}
		return nil
	}})
	e.create("a", "red")
	_, err := e.Create(t.Context(), key("a"), object("a", "red"), storage.CreateOptions{})
	e.wantError(err, storage.ErrExists)
	_, err = e.Create(t.Context(), key("forbidden"), object("forbidden", "red"), storage.CreateOptions{})
	e.wantError(err, rejection)
	_, err = e.GuaranteedUpdate(t.Context(), key("absent"), paint("red"), storage.UpdateOptions{})
	e.wantError(err, storage.ErrNotFound)
	_, err = e.Delete(t.Context(), key("absent"), storage.DeleteOptions{})
	e.wantError(err, storage.ErrNotFound)
	other := types.UID("other")
	_, err = e.Delete(t.Context(), key("a"), storage.DeleteOptions{Preconditions: &storage.Preconditions{UID: &other}})
	e.wantError(err, storage.ErrPrecondition)
	if _, err := e.Create(t.Context(), key("b"), object("b", "red"), storage.CreateOptions{DryRun: true}); err != nil {
		t.Error(err)
	}
	if result := e.update("a", paint("blue"), storage.UpdateOptions{DryRun: true}); e.describe(result.Entry) != "a blue 2" {
		t.Errorf("a dry run returns %s", e.describe(result.Entry))
	}
	page, err := e.GetList(t.Context(), "/things", storage.ListOptions{Recursive: true})
	if err != nil || page.Revision != 2 || len(page.Entries) != 1 || e.describe(page.Entries[0]) != "a red 2" {
		t.Errorf("%v %+v", err, page)
	}
}

func TestUpdateThatLosesRaceRunsAgain(t *testing.T) {
	e := newEnv(t, memory.Config{})
	e.create("a", "red")
	runs := 0
	result := e.update("a", func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		if runs++; runs == 1 {
			e.update("a", paint("green"), storage.UpdateOptions{})
		}
		return paint(e.describe(current))(ctx, current)
	}, storage.UpdateOptions{})
	if got := e.describe(result.Entry); got != "a a green 3 4" || runs != 2 {
		t.Errorf("%s after %d runs", got, runs)
	}
}

func TestReadsOfOtherRevisions(t *testing.T) {
	e := newEnv(t, memory.Config{})
	e.create("a", "red")
	e.create("b", "red")
	_, err := e.Get(t.Context(), key("a"), storage.GetOptions{ResourceVersion: "9"})
	e.wantError(err, storage.ErrFutureRevision)
	exact := storage.ListOptions{Recursive: true, ResourceVersion: "2", ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	_, err = e.GetList(t.Context(), "/things", exact)
	e.wantError(err, storage.ErrCompacted)
	exact.ResourceVersion = "3"
	if page, err := e.GetList(t.Context(), "/things", exact); err != nil || len(page.Entries) != 2 {
		t.Errorf("the present revision: %v", err)
	}
}

func TestWatch(t *testing.T) {
	e := newEnv(t, memory.Config{})
	e.create("a", "red")
	e.create("b", "blue")
	red := storage.Predicate{Label: labels.SelectorFromSet(labels.Set{"colour": "red"}), Attrs: attributes}
	open := map[string]storage.Watcher{}
	for name, opts := range map[string]storage.WatchOptions{
		"from the start": {Recursive: true, ResourceVersion: "2"},
		"with state":     {Recursive: true},
		"red":            {Recursive: true, Predicate: red},
	} {
		w, err := e.Watch(t.Context(), "/things", opts)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		open[name] = w
	}
	if !e.Watched() {
		t.Error("the store is not watched")
	}
	e.update("a", paint("blue"), storage.UpdateOptions{})
	e.update("b", paint("red"), storage.UpdateOptions{})
	if _, err := e.Delete(t.Context(), key("b"), storage.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	changes := []string{"MODIFIED a blue 4", "MODIFIED b red 5", "DELETED b red 6"}
	for name, want := range map[string][]string{
		"from the start": append([]string{"ADDED b blue 3"}, changes...),
		"with state":     append([]string{"ADDED a red 2", "ADDED b blue 3", "BOOKMARK 3"}, changes...),
		"red":            {"ADDED a red 2", "BOOKMARK 3", "DELETED a red 4", "ADDED b red 5", "DELETED b red 6"},
	} {
		var got []string
		for range want {
			event := <-open[name].Events()
			text := fmt.Sprint(event.Type)
			if event.Entry == nil {
				got = append(got, fmt.Sprint(text, " ", event.Revision))
				continue
			}
			got = append(got, text+" "+e.describe(event.Entry))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	return obj.(*unstructured.Unstructured).GetLabels(), nil, nil
}

func TestWatchOfForgottenChanges(t *testing.T) {
	e := newEnv(t, memory.Config{})
	e.create("a", "red")
	for i := range 1100 {
		e.update("a", paint(fmt.Sprint(i)), storage.UpdateOptions{})
	}
	w, err := e.Watch(t.Context(), "/things", storage.WatchOptions{Recursive: true, ResourceVersion: versioner.Format(2)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	e.wantError((<-w.Events()).Err, storage.ErrCompacted)
}

func TestReadsSeeRefreshedObjects(t *testing.T) {
	var e *env
	refreshed := 0
	e = newEnv(t, memory.Config{Refresh: func() {
		refreshed++
		e.update("a", paint(fmt.Sprint(refreshed)), storage.UpdateOptions{})
	}})
	e.create("a", "red")
	entry, err := e.Get(t.Context(), key("a"), storage.GetOptions{})
	if err != nil || e.describe(entry) != "a 1 3" {
		t.Errorf("%v %v", entry, err)
	}
}
