package webhook

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// response is the response of a webhook in a form that is common to all versions.
type response struct {
	allowed     bool
	result      *metav1.Status
	patch       []byte
	patchType   admissionv1.PatchType
	warnings    []string
	annotations map[string]string
}

// emptyReview returns an AdmissionReview to decode a response into.
func emptyReview(version string) runtime.Object {
	if version == admissionv1beta1.SchemeGroupVersion.Version {
		return &admissionv1beta1.AdmissionReview{}
	}
	return &admissionv1.AdmissionReview{}
}

// verifyResponse checks a response. Version v1 has required fields that v1beta1 does not have.
func (v *review) verifyResponse(answered runtime.Object, mutates bool) (*response, error) {
	switch answered := answered.(type) {
	case *admissionv1.AdmissionReview:
		return v.verifyV1(answered, mutates)
	case *admissionv1beta1.AdmissionReview:
		return verifyV1beta1(answered, mutates)
	}
	return nil, fmt.Errorf("unexpected response type %T", answered)
}

func (v *review) verifyV1(answered *admissionv1.AdmissionReview, mutates bool) (*response, error) {
	r := answered.Response
	if r == nil {
		return nil, errors.New("webhook response was absent")
	}
	if r.UID != v.uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", v.uid, r.UID)
	}
	want := admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")
	if got := answered.GroupVersionKind(); got != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, got)
	}
	if err := checkPatch(r, mutates); err != nil {
		return nil, err
	}
	out := &response{
		allowed: r.Allowed, result: r.Result, patch: r.Patch,
		warnings: r.Warnings, annotations: r.AuditAnnotations,
	}
	if r.PatchType != nil {
		out.patchType = *r.PatchType
	}
	return out, nil
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

func verifyV1beta1(answered *admissionv1beta1.AdmissionReview, mutates bool) (*response, error) {
	r := answered.Response
	if r == nil {
		return nil, errors.New("webhook response was absent")
	}
	out := &response{allowed: r.Allowed, result: r.Result, warnings: r.Warnings, annotations: r.AuditAnnotations}
	if mutates && len(r.Patch) > 0 {
		out.patch, out.patchType = r.Patch, admissionv1.PatchTypeJSONPatch
	}
	return out, nil
}
