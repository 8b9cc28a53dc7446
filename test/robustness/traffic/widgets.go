package traffic

import (
	"context"
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// widgets is the client of Widgets.
type widgets struct{ client dynamic.ResourceInterface }

func (widgets) name() string { return Widgets }

func (w widgets) get(ctx context.Context, name string, opts metav1.GetOptions) (Object, error) {
	return ofWidget(w.client.Get(ctx, name, opts))
}

func (w widgets) list(ctx context.Context, opts metav1.ListOptions) (page, error) {
	list, err := w.client.List(ctx, opts)
	if err != nil {
		return page{}, err
	}
	p := page{more: list.GetContinue()}
	if p.revision, err = strconv.ParseInt(list.GetResourceVersion(), 10, 64); err != nil {
		return page{}, err
	}
	for i := range list.Items {
		o, err := fromRuntime(&list.Items[i])
		if err != nil {
			return page{}, err
		}
		p.objects = append(p.objects, o)
	}
	return p, nil
}

func (w widgets) watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return w.client.Watch(ctx, opts)
}

func (w widgets) create(ctx context.Context, o Object) (Object, error) {
	return ofWidget(w.send(o, func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return w.client.Create(ctx, u, metav1.CreateOptions{})
	}))
}

func (w widgets) update(ctx context.Context, o Object) (Object, error) {
	return ofWidget(w.send(o, func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return w.client.Update(ctx, u, metav1.UpdateOptions{})
	}))
}

func (w widgets) patch(ctx context.Context, name, written string) (Object, error) {
	body, err := json.Marshal(map[string]any{"spec": map[string]string{value: written}})
	if err != nil {
		return Object{}, err
	}
	return ofWidget(w.client.Patch(ctx, name, widgetPatch, body, metav1.PatchOptions{}))
}

func (w widgets) apply(ctx context.Context, o Object, manager string) (Object, error) {
	return ofWidget(w.send(o, func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		body, err := json.Marshal(u)
		if err != nil {
			return nil, err
		}
		return w.client.Patch(ctx, o.Name, types.ApplyPatchType, body, applyOptions(manager))
	}))
}

func (w widgets) delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return w.client.Delete(ctx, name, opts)
}

// send passes the object of a version to a request.
func (widgets) send(o Object, request func(*unstructured.Unstructured) (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	m := o.meta()
	metadata, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&m)
	if err != nil {
		return nil, err
	}
	delete(metadata, "creationTimestamp")
	return request(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Widget", "metadata": metadata,
		"spec": map[string]any{value: o.Value},
	}})
}

func ofWidget(u *unstructured.Unstructured, err error) (Object, error) {
	if err != nil {
		return Object{}, err
	}
	return fromRuntime(u)
}
