package webhook

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// question is one request as one webhook is told of it.
type question struct {
	request *match.Request
	target  *match.Target
	// object and old are in the version of target.
	object, old runtime.Object
	uid         types.UID
}

func newQuestion(r *match.Request, target *match.Target) (*question, error) {
	q := &question{request: r, target: target, uid: uuid.NewUUID()}
	var err error
	if q.object, err = target.Show(r.Object); err != nil {
		return nil, err
	}
	q.old, err = target.Show(r.OldObject)
	return q, err
}

// review returns the question in a version of AdmissionReview. The two there
// are differ in name only.
func (q *question) review(ctx context.Context, version string) ([]byte, error) {
	r := q.request
	kind, resource := metav1.GroupVersionKind(r.Kind), metav1.GroupVersionResource(r.Resource)
	dryRun := r.Options.DryRun
	return json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{
			Kind:       "AdmissionReview",
			APIVersion: schema.GroupVersion{Group: admissionv1.GroupName, Version: version}.String(),
		},
		Request: &admissionv1.AdmissionRequest{
			UID:                q.uid,
			Kind:               metav1.GroupVersionKind(q.target.Kind),
			Resource:           metav1.GroupVersionResource(q.target.Resource),
			SubResource:        r.Subresource,
			RequestKind:        &kind,
			RequestResource:    &resource,
			RequestSubResource: r.Subresource,
			Name:               r.Name,
			Namespace:          r.Namespace,
			Operation:          admissionv1.Operation(r.Operation),
			UserInfo:           userInfo(ctx),
			Object:             runtime.RawExtension{Object: q.object},
			OldObject:          runtime.RawExtension{Object: q.old},
			DryRun:             &dryRun,
			Options:            runtime.RawExtension{Object: r.SentOptions()},
		},
	})
}

func userInfo(ctx context.Context) authenticationv1.UserInfo {
	if user := registry.UserFrom(ctx); user != nil {
		return *user
	}
	return authenticationv1.UserInfo{}
}
