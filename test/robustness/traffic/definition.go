package traffic

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const crdName = Widgets + "." + group

// retryEvery is the time between two attempts of a request that must succeed in the end.
const retryEvery = 20 * time.Millisecond

// Prepare creates the namespace and the definition of Widgets. It retries while servers fail.
func (c Clients) Prepare(ctx context.Context) error {
	err := Retry(ctx, func() error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
		_, err := c.Typed.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // created by an attempt with an unknown outcome
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create the namespace: %w", err)
	}
	return c.CreateDefinition(ctx)
}

// CreateDefinition creates the definition of Widgets, and waits until Widgets are served. It
// retries while servers fail.
func (c Clients) CreateDefinition(ctx context.Context) error {
	err := Retry(ctx, func() error {
		_, err := c.Dynamic.Resource(crdResource).Create(ctx, definition(), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create the definition: %w", err)
	}
	return Retry(ctx, func() error {
		_, err := c.Dynamic.Resource(widgetResource).Namespace(Namespace).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

// DeleteDefinition deletes the definition of Widgets, and with it all Widgets, and waits until it
// is gone. It retries while servers fail.
func (c Clients) DeleteDefinition(ctx context.Context) error {
	return Retry(ctx, func() error {
		err := c.Dynamic.Resource(crdResource).Delete(ctx, crdName, metav1.DeleteOptions{})
		if err == nil {
			err = fmt.Errorf("the definition of %s still exists", Widgets)
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// ChangeDefinition adds a property to the schema of Widgets.
func (c Clients) ChangeDefinition(ctx context.Context, property string) error {
	patch := fmt.Sprintf(`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/%s","value":{"type":"string"}}]`, property)
	return Retry(ctx, func() error {
		_, err := c.Dynamic.Resource(crdResource).Patch(ctx, crdName, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

// Retry repeats a request until it succeeds or ctx ends. Then it returns the last error before the
// end of ctx.
func Retry(ctx context.Context, request func() error) (err error) {
	for {
		last := request()
		if last == nil {
			return nil
		}
		if err == nil || ctx.Err() == nil {
			err = last
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(retryEvery):
		}
	}
}

func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": crdName},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"plural": Widgets, "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object",
					"properties": map[string]any{"spec": map[string]any{
						"type": "object", "properties": map[string]any{value: map[string]any{"type": "string"}},
					}},
				}},
			}},
		},
	}}
}
