package miniapi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/internal/condition"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// WaitFor returns nil as soon as an object exists and a CEL expression about it is true. It watches
// the object: a state that is replaced at once is checked too.
//
// The object is TYPE/NAME or TYPE/NAMESPACE/NAME, such as deploy/web, where TYPE is a plural or
// singular name, a short name or a kind, also with the group: deployments.apps/web. The default
// namespace is "default". The expression has the variable object, in the preferred version of the
// resource, and the CEL libraries of kube-apiserver. A field that is absent makes it false.
//
// When ctx ends, the error wraps the error of ctx and has the parts of the expression that are
// false, with their values, the last write of the object, and its last state. The expression is
// checked at least once.
func (s *Server) WaitFor(ctx context.Context, object, expression string) error {
	compiled, err := condition.Compile(expression)
	if err != nil {
		return err
	}
	return s.waitFor(ctx, object, wait{text: expression, unmet: func(obj *unstructured.Unstructured) string {
		return compiled.Unmet(obj.Object)
	}})
}

// WaitForFunc is WaitFor with a function as the condition. It must not modify the object.
func (s *Server) WaitForFunc(ctx context.Context, object string, met func(*unstructured.Unstructured) bool) error {
	return s.waitFor(ctx, object, wait{text: "the condition", unmet: func(obj *unstructured.Unstructured) string {
		if met(obj) {
			return ""
		}
		return "the condition is false"
	}})
}

// WaitForDeletion returns nil as soon as an object does not exist. See WaitFor.
func (s *Server) WaitForDeletion(ctx context.Context, object string) error {
	return s.waitFor(ctx, object, wait{text: "deletion", absent: true})
}

// wait is a condition of an object and the last known state of the object.
type wait struct {
	text string
	// absent is set if the condition is that the object does not exist. Otherwise unmet returns the
	// reason for which an object does not meet the condition, "" if it does.
	absent bool
	unmet  func(*unstructured.Unstructured) string

	served registry.Interface
	// latest is the last state, deleted the last state of a deleted object.
	latest, deleted *storage.Entry
	object          *unstructured.Unstructured // of latest
	reason          string                     // for which the last state does not meet the condition
}

func (s *Server) waitFor(ctx context.Context, object string, w wait) error {
	ref, err := parseObjectRef(object)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.running, func() { cancel(errStopped) })()
	for {
		s.sync(ctx) // the kinds of CustomResourceDefinitions and APIServices
		var request registry.ListRequest
		if w.served, request, err = ref.resolve(s.catalog.Snapshot()); err != nil {
			return err
		}
		met, err := w.watch(registry.WithServerUser(ctx), request)
		if s.running.Err() != nil {
			cancel(errStopped) // the end of the server ends the watch, maybe before ctx
		}
		switch {
		case met:
			return nil
		case ctx.Err() != nil:
			if w.reason == "" && w.read(ctx, request.Namespace, ref.name) {
				return nil
			}
			return fmt.Errorf("%s does not meet %s: %w%s", object, w.text, context.Cause(ctx), s.describeWait(&w))
		case err != nil && !apierrors.IsResourceExpired(err):
			return fmt.Errorf("wait for %s: %w", object, err)
		}
	}
}

// watch watches the object until it meets the condition. It returns false at the end of the watch.
func (w *wait) watch(ctx context.Context, request registry.ListRequest) (met bool, err error) {
	request.SendInitialEvents = new(true)
	watcher, err := w.served.Watch(ctx, request)
	if err != nil {
		return false, err
	}
	defer watcher.Stop()
	w.latest, w.object, w.reason = nil, nil, "" // an earlier watch may have missed changes
	initial := true
	for event := range watcher.Events() {
		switch {
		case event.Type == watch.Error:
			return false, w.served.Resource().EventError(event.Err)
		case event.InitialEventsEnd:
			initial = false
		case event.Type == watch.Deleted:
			w.latest, w.deleted = nil, event.Entry
		case event.Type != watch.Bookmark:
			w.latest = event.Entry
		}
		if initial && w.latest == nil {
			continue // it is not known yet whether the object exists
		}
		if met, err := w.check(ctx); met || err != nil {
			return met, err
		}
	}
	return false, nil
}

// read checks the condition once for a wait whose ctx has ended before the first check.
func (w *wait) read(ctx context.Context, namespace, name string) (met bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), describeTimeout)
	defer cancel()
	entry, err := w.served.Get(registry.WithServerUser(ctx), namespace, name, "")
	if err != nil && !apierrors.IsNotFound(err) {
		return false
	}
	w.latest = entry
	met, err = w.check(ctx)
	return met && err == nil
}

// check checks the condition on the last state.
func (w *wait) check(ctx context.Context) (met bool, err error) {
	w.object = nil
	if w.latest == nil {
		w.reason = "the object does not exist"
		return w.absent, nil
	}
	if w.absent {
		w.reason = "the object exists"
	}
	if w.object, err = w.decode(ctx, w.latest); err != nil || w.absent {
		return false, err
	}
	w.reason = w.unmet(w.object)
	return w.reason == "", nil
}

// decode returns the object of an entry in the preferred version of the resource.
func (w *wait) decode(ctx context.Context, entry *storage.Entry) (*unstructured.Unstructured, error) {
	obj, err := entry.ObjectContext(ctx)
	if err != nil {
		return nil, err
	}
	r := w.served.Resource()
	if convert := r.Versions[0].FromHub; convert != nil {
		if obj, err = convert(obj); err != nil {
			return nil, err
		}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	decoded := &unstructured.Unstructured{Object: content}
	decoded.SetGroupVersionKind(r.GroupKind().WithVersion(r.Versions[0].Name))
	return decoded, nil
}
