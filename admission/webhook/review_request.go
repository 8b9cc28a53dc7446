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

// review is a request as shown to one webhook.
type review struct {
	request *match.Request
	target  *match.Target
	// object and old have the version of target.
	object, old runtime.Object
	uid         types.UID
}

func newReview(r *match.Request, target *match.Target) (*review, error) {
	v := &review{request: r, target: target, uid: uuid.NewUUID()}
	var err error
	if v.object, err = target.Show(r.Object); err != nil {
		return nil, err
	}
	v.old, err = target.Show(r.OldObject)
	return v, err
}

// encode returns the JSON of the AdmissionReview. The versions v1 and v1beta1 differ only in the
// apiVersion.
func (v *review) encode(ctx context.Context, version string) ([]byte, error) {
	r := v.request
	kind, resource := metav1.GroupVersionKind(r.Kind), metav1.GroupVersionResource(r.Target.Resource)
	dryRun := r.Options.DryRun
	return json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{
			Kind:       "AdmissionReview",
			APIVersion: schema.GroupVersion{Group: admissionv1.GroupName, Version: version}.String(),
		},
		Request: &admissionv1.AdmissionRequest{
			UID:                v.uid,
			Kind:               metav1.GroupVersionKind(v.target.Kind),
			Resource:           metav1.GroupVersionResource(v.target.Resource),
			SubResource:        r.Subresource,
			RequestKind:        &kind,
			RequestResource:    &resource,
			RequestSubResource: r.Subresource,
			Name:               r.Name,
			Namespace:          r.Namespace,
			Operation:          admissionv1.Operation(r.Operation),
			UserInfo:           userInfo(ctx),
			Object:             runtime.RawExtension{Object: v.object},
			OldObject:          runtime.RawExtension{Object: v.old},
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
