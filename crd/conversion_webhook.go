package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/internal/webhooks"
)

// conversionTimeout is the time of one call of a webhook.
const conversionTimeout = 30 * time.Second

// webhook is the strategy Webhook.
type webhook struct {
	clients *webhooks.Clients
	target  webhooks.Target
	reviews []string // the versions of ConversionReview that it supports
	timeout time.Duration
	client  func() (*rest.RESTClient, error)
}

func newWebhook(clients *webhooks.Clients, config *apiextensionsv1.WebhookConversion) *webhook {
	w := &webhook{clients: clients, reviews: config.ConversionReviewVersions, timeout: conversionTimeout}
	if c := config.ClientConfig; c != nil {
		w.target = webhooks.Target{URL: c.URL, CABundle: c.CABundle}
		if s := c.Service; s != nil {
			w.target.Service = &webhooks.Service{Namespace: s.Namespace, Name: s.Name, Port: ptr.Deref(s.Port, 443)}
			w.target.Path = ptr.Deref(s.Path, "")
		}
	}
	w.client = sync.OnceValues(func() (*rest.RESTClient, error) { return clients.Client(w.target, reviewSerializer()) })
	return w
}

func (w *webhook) close() { w.clients.Forget(w.target) }

// convert implements converter. An object that has only its apiVersion and kind is converted
// without a call. An error is the Status for the client.
func (w *webhook) convert(ctx context.Context, object map[string]any, apiVersion string) (map[string]any, error) {
	if len(object) == 2 {
		return rename{}.convert(ctx, object, apiVersion)
	}
	original := &unstructured.Unstructured{Object: object}
	converted, err := w.request(ctx, original, apiVersion)
	if err == nil {
		err = acceptConverted(original, converted, apiVersion)
	}
	if err != nil {
		return nil, failedConversion(err)
	}
	return converted.Object, nil
}

// failedConversion returns a Status without a reason, as in kube-apiserver.
func failedConversion(err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

// request returns the object that the webhook converted.
func (w *webhook) request(ctx context.Context, original *unstructured.Unstructured, apiVersion string) (*unstructured.Unstructured, error) {
	supported := slices.IndexFunc(w.reviews, func(version string) bool {
		return version == apiextensionsv1.SchemeGroupVersion.Version || version == v1beta1.SchemeGroupVersion.Version
	})
	if supported < 0 {
		return nil, errors.New("no supported conversion review versions")
	}
	review := newReview(w.reviews[supported], original, apiVersion)
	objects, err := w.call(ctx, review)
	if err != nil {
		return nil, fmt.Errorf("conversion webhook for %v failed: %w", original.GroupVersionKind(), err)
	}
	if len(objects) != 1 {
		return nil, fmt.Errorf("conversion webhook for %v returned %d objects, expected 1", original.GroupVersionKind(), len(objects))
	}
	converted := &unstructured.Unstructured{}
	return converted, converted.UnmarshalJSON(objects[0].Raw)
}

// newReview returns a request in a version of ConversionReview. Both versions have the same fields.
// The empty response is for webhooks that complete the review they receive.
func newReview(version string, original *unstructured.Unstructured, apiVersion string) *apiextensionsv1.ConversionReview {
	review := &apiextensionsv1.ConversionReview{
		Request: &apiextensionsv1.ConversionRequest{
			UID:               uuid.NewUUID(),
			DesiredAPIVersion: apiVersion,
			Objects:           []runtime.RawExtension{{Object: original}},
		},
		Response: &apiextensionsv1.ConversionResponse{},
	}
	review.SetGroupVersionKind(schema.GroupVersionKind{Group: apiextensionsv1.GroupName, Version: version, Kind: "ConversionReview"})
	return review
}

func (w *webhook) call(ctx context.Context, review *apiextensionsv1.ConversionReview) ([]runtime.RawExtension, error) {
	client, err := w.client()
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	result := client.Post().Body(body).Timeout(w.timeout).
		SetHeader("Content-Type", "application/json").
		SetHeader("User-Agent", "kube-apiserver-admission").
		Do(ctx)
	if review.GroupVersionKind().Version == v1beta1.SchemeGroupVersion.Version {
		response := &v1beta1.ConversionReview{}
		if err := result.Into(response); err != nil {
			return nil, err
		}
		return readV1beta1(response)
	}
	response := &apiextensionsv1.ConversionReview{}
	if err := result.Into(response); err != nil {
		return nil, err
	}
	return readV1(response, review.Request.UID)
}

// reviewSerializer decodes the responses of webhooks. All webhooks of the process share it.
var reviewSerializer = sync.OnceValue(func() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	return serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{
		Serializer: serializer.NewCodecFactory(scheme).LegacyCodec(apiextensionsv1.SchemeGroupVersion, v1beta1.SchemeGroupVersion),
	})
})
