package crd

import (
	"context"
	"fmt"
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

// converterOf returns the converter of a definition. Without clients, webhooks are not called.
func converterOf(crd *apiextensionsv1.CustomResourceDefinition, clients *webhooks.Clients) converter {
	switch c := crd.Spec.Conversion; {
	case c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil:
		return rename{}
	case clients == nil:
		return offline{}
	default:
		return newWebhook(clients, c.Webhook)
	}
}

// rename is the strategy None: only the apiVersion changes.
type rename struct{}

func (rename) convert(_ context.Context, object map[string]any, apiVersion string) (map[string]any, error) {
	out := maps.Clone(object)
	out["apiVersion"] = apiVersion
	return out, nil
}

func (rename) close() {}

// offline is the strategy Webhook where webhooks are not called.
type offline struct{}

func (offline) convert(_ context.Context, object map[string]any, apiVersion string) (map[string]any, error) {
	return nil, failedConversion(fmt.Errorf(
		"the conversion to %s needs a webhook, which is not called for a snapshot: read the version %v, in which the object is stored",
		apiVersion, object["apiVersion"]))
}

func (offline) close() {}
