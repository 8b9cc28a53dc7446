package webhook

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// answer is what a webhook says, of whatever version.
type answer struct {
	allowed     bool
	result      *metav1.Status
	patch       []byte
	patchType   admissionv1.PatchType
	warnings    []string
	annotations map[string]string
}

// emptyReview returns what to decode an answer into.
func emptyReview(version string) runtime.Object {
	if version == admissionv1beta1.SchemeGroupVersion.Version {
		return &admissionv1beta1.AdmissionReview{}
	}
	return &admissionv1.AdmissionReview{}
}

// read checks an answer. That of the old version may lack some of what the new
// one must have.
func (q *question) read(review runtime.Object, mutates bool) (*answer, error) {
	switch review := review.(type) {
	case *admissionv1.AdmissionReview:
		return q.readV1(review, mutates)
	case *admissionv1beta1.AdmissionReview:
		return readV1beta1(review, mutates)
	}
	return nil, fmt.Errorf("unexpected response type %T", review)
}

func (q *question) readV1(review *admissionv1.AdmissionReview, mutates bool) (*answer, error) {
	r := review.Response
	if r == nil {
		return nil, errors.New("webhook response was absent")
	}
	if r.UID != q.uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", q.uid, r.UID)
	}
	want := admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")
	if got := review.GroupVersionKind(); got != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, got)
	}
	if err := checkPatch(r, mutates); err != nil {
		return nil, err
	}
	a := &answer{
		allowed: r.Allowed, result: r.Result, patch: r.Patch,
		warnings: r.Warnings, annotations: r.AuditAnnotations,
	}
	if r.PatchType != nil {
		a.patchType = *r.PatchType
	}
	return a, nil
}

func checkPatch(r *admissionv1.AdmissionResponse, mutates bool) error {
	switch hasPatch, hasType := len(r.Patch) > 0, r.PatchType != nil; {
	case !mutates && hasPatch:
		return errors.New("validating webhook may not return response.patch")
	case !mutates && hasType:
		return errors.New("validating webhook may not return response.patchType")
	case hasPatch && !hasType:
		return errors.New("webhook returned response.patch but not response.patchType")
	case !hasPatch && hasType:
		return errors.New("webhook returned response.patchType but not response.patch")
	case hasType && *r.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *r.PatchType)
	}
	return nil
}

func readV1beta1(review *admissionv1beta1.AdmissionReview, mutates bool) (*answer, error) {
	r := review.Response
	if r == nil {
		return nil, errors.New("webhook response was absent")
	}
	a := &answer{allowed: r.Allowed, result: r.Result, warnings: r.Warnings, annotations: r.AuditAnnotations}
	if mutates && len(r.Patch) > 0 {
		a.patch, a.patchType = r.Patch, admissionv1.PatchTypeJSONPatch
	}
	return a, nil
}
