package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/registry"
)

// ask returns what a webhook says to a question, if it allows the request. That
// there is no answer is a callError.
func (d *Dispatcher) ask(ctx context.Context, h *hook, q *question) (*answer, error) {
	if err := h.checkDryRun(q.request.Options); err != nil {
		return nil, err
	}
	got, err := h.call(ctx, q)
	if err != nil {
		return nil, err
	}
	for key, value := range got.annotations {
		d.log.DebugContext(ctx, "audit annotation of a webhook", "key", h.name+"/"+key, "value", value)
	}
	for _, text := range got.warnings {
		registry.AddWarning(ctx, text)
	}
	if !got.allowed {
		return nil, h.denied(got.result)
	}
	return got, nil
}

// checkDryRun keeps a webhook that might change something from being asked
// about what is not to be done.
func (h *hook) checkDryRun(options registry.WriteOptions) error {
	if !options.DryRun {
		return nil
	}
	if h.sideEffects == nil {
		return &callError{webhook: h.name, reason: errors.New("Webhook SideEffects is nil")} // the text of kube-apiserver
	}
	switch *h.sideEffects {
	case admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun:
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.name))
}

// call sends the question and reads the answer.
func (h *hook) call(ctx context.Context, q *question) (*answer, error) {
	version, ok := h.reviewVersion()
	if !ok {
		return nil, h.failed("could not create admission objects", errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)"))
	}
	body, err := q.review(ctx, version)
	if err != nil {
		return nil, h.failed("could not create admission objects", err)
	}
	client, err := h.client()
	if err != nil {
		return nil, h.failed("could not get REST client", err)
	}
	review := emptyReview(version)
	if err := h.post(ctx, client, body, review); err != nil {
		return nil, h.failed("failed to call webhook", err)
	}
	got, err := q.read(review, h.mutates)
	if err != nil {
		return nil, h.failed("received invalid webhook response", err)
	}
	return got, nil
}

// reviewVersion is the first that both sides know.
func (h *hook) reviewVersion() (string, bool) {
	for _, version := range h.reviews {
		if version == admissionv1.SchemeGroupVersion.Version || version == admissionv1beta1.SchemeGroupVersion.Version {
			return version, true
		}
	}
	return "", false
}

// post sends a body and reads the answer into review, both in the time that the
// webhook has. That is told to it as well.
func (h *hook) post(ctx context.Context, client *rest.RESTClient, body []byte, review runtime.Object) error {
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
	return request.Do(ctx).Into(review)
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
