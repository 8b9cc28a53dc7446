package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/registry"
)

// call sends a review to a webhook and returns its response if it allows the request. The error
// is a callError if there is no valid response.
func (d *Dispatcher) call(ctx context.Context, h *hook, review *review) (*response, error) {
	if err := h.checkDryRun(review.request.Options); err != nil {
		return nil, err
	}
	response, err := h.send(ctx, review)
	if err != nil {
		return nil, err
	}
	for key, value := range response.annotations {
		registry.AddAuditAnnotation(ctx, h.name+"/"+key, value)
	}
	for _, text := range response.warnings {
		registry.AddWarning(ctx, text)
	}
	if !response.allowed {
		return nil, h.denied(response.result)
	}
	return response, nil
}

// checkDryRun rejects a dry run if the webhook may have side effects.
func (h *hook) checkDryRun(options registry.WriteOptions) error {
	if !options.DryRun {
		return nil
	}
	if h.sideEffects == nil {
		// The text of kube-apiserver.
		return &callError{webhook: h.name, code: http.StatusBadRequest, reason: errors.New("Webhook SideEffects is nil")}
	}
	switch *h.sideEffects {
	case admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun:
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.name))
}

// send sends a review and verifies the response.
func (h *hook) send(ctx context.Context, review *review) (*response, error) {
	version, ok := h.reviewVersion()
	if !ok {
		return nil, h.failed(http.StatusBadRequest, "could not create admission objects", errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)"))
	}
	body, err := review.encode(ctx, version)
	if err != nil {
		return nil, h.failed(http.StatusBadRequest, "could not create admission objects", err)
	}
	client, err := h.client()
	if err != nil {
		return nil, h.failed(http.StatusInternalServerError, "could not get REST client", err)
	}
	answered := emptyReview(version)
	if err := h.post(ctx, client, body, answered); err != nil {
		return nil, h.failed(codeOf(err), "failed to call webhook", err)
	}
	response, err := review.verifyResponse(answered, h.mutates)
	if err != nil {
		return nil, h.failed(http.StatusServiceUnavailable, "received invalid webhook response", err)
	}
	return response, nil
}

// reviewVersion returns the first version of AdmissionReview that both sides support.
func (h *hook) reviewVersion() (string, bool) {
	for _, version := range h.reviews {
		if version == admissionv1.SchemeGroupVersion.Version || version == admissionv1beta1.SchemeGroupVersion.Version {
			return version, true
		}
	}
	return "", false
}

// post sends a body and decodes the response into answered, within the timeout of the webhook.
// The URL parameter timeout passes the remaining time to the webhook.
func (h *hook) post(ctx context.Context, client *rest.RESTClient, body []byte, answered runtime.Object) error {
	if h.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.timeout)
		defer cancel()
	}
	request := client.Post().Body(body).
		SetHeader("Content-Type", "application/json").
		SetHeader("User-Agent", "kube-apiserver-admission")
	if deadline, ok := ctx.Deadline(); ok {
		request.Timeout(wholeSeconds(time.Until(deadline)))
	}
	return request.Do(ctx).Into(answered)
}

// wholeSeconds rounds up to seconds.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
