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

// Manager is who owns the fields that are applied.
const Manager = "miniapi"

// Applier applies objects to a server. Safe for concurrent use.
type Applier struct {
	objects dynamic.Interface
	client  *http.Client
	url     string
}

// NewApplier returns one for the server and the user of a config, whose Host is a
// URL.
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

// Apply creates the objects, or changes them to what is said here, whoever owned
// the fields before. CustomResourceDefinitions and Namespaces come first, and
// what they define is served before the rest comes; what failed is tried again as
// long as something else succeeds. The error joins those of all objects that
// could not be applied, a line for each.
func (a *Applier) Apply(ctx context.Context, objects []Object) error {
	pending := inOrder(objects)
	for {
		failed, err := a.round(ctx, pending)
		if len(failed) == 0 || len(failed) == len(pending) || ctx.Err() != nil {
			return err
		}
		pending = failed
	}
}

// round tries each object once, and returns those that failed.
func (a *Applier) round(ctx context.Context, objects []Object) ([]Object, error) {
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
	applied, err := resource.Apply(ctx, object.GetName(), object.Unstructured, metav1.ApplyOptions{FieldManager: Manager, Force: true})
	if err != nil {
		return err
	}
	if isDefinition(object) {
		return a.awaitEstablished(ctx, applied)
	}
	return nil
}
