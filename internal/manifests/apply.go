package manifests

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// FieldManager is the manager of applied fields.
const FieldManager = "miniapi"

// Applier applies objects to a server. It is safe for concurrent use.
type Applier struct {
	objects dynamic.Interface
	client  *http.Client
	url     string
}

// NewApplier returns an applier for the server and the user of a config. The Host of the config
// must be a URL.
func NewApplier(config *rest.Config) (*Applier, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return &Applier{objects: objects, client: client, url: config.Host}, nil
}

// Apply creates or changes objects with server-side apply, and takes over fields of other managers.
// It applies CustomResourceDefinitions and Namespaces first, and waits until the defined resources
// are served. It retries failed objects as long as other objects succeed. The error has a line for
// each object that could not be applied.
func (a *Applier) Apply(ctx context.Context, objects []Object) error {
	pending := inOrder(objects)
	for {
		failed, err := a.applyOnce(ctx, pending)
		if len(failed) == 0 || len(failed) == len(pending) || ctx.Err() != nil {
			return err
		}
		pending = failed
	}
}

// applyOnce applies each object once, and returns those that failed.
func (a *Applier) applyOnce(ctx context.Context, objects []Object) ([]Object, error) {
	var failed []Object
	var errs []error
	served := servedResources{}
	for _, object := range objects {
		if err := a.apply(ctx, object, served); err != nil {
			failed = append(failed, object)
			errs = append(errs, fmt.Errorf("%s: %w", object, err))
		}
	}
	return failed, errors.Join(errs...)
}

func (a *Applier) apply(ctx context.Context, object Object, served servedResources) error {
	resource, err := a.resource(ctx, object, served)
	if err != nil {
		return err
	}
	applied, err := resource.Apply(ctx, object.GetName(), object.Unstructured, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil {
		return err
	}
	if isDefinition(object) {
		return a.awaitEstablished(ctx, applied)
	}
	return nil
}
