package crd

import (
	"context"
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/miniapi/miniapi/internal/webhooks"
)

// converter converts objects of one kind between versions. It must be safe for concurrent use.
type converter interface {
	// convert returns an object, which has its apiVersion and kind, in another version. It does not
	// modify the object. The result may share memory with it. It waits no longer than ctx.
	convert(ctx context.Context, object map[string]any, apiVersion string) (map[string]any, error)
	// close releases resources that are not in use. Running conversions continue.
	close()
}

// converterOf returns the converter of a definition.
func converterOf(crd *apiextensionsv1.CustomResourceDefinition, clients *webhooks.Clients) converter {
	if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter && c.Webhook != nil {
		return newWebhook(clients, c.Webhook)
	}
	return rename{}
}

// rename is the strategy None: only the apiVersion changes.
type rename struct{}

func (rename) convert(_ context.Context, object map[string]any, apiVersion string) (map[string]any, error) {
	out := maps.Clone(object)
	out["apiVersion"] = apiVersion
	return out, nil
}

func (rename) close() {}
