package expression

import (
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/miniapi/miniapi/admission/match"
)

// Input holds the variables of a request, in the version of a target.
type Input struct {
	Attributes *admission.VersionedAttributes
	Request    *admissionv1.AdmissionRequest
	Bindings   plugincel.OptionalVariableBindings
	// Namespace is the value of namespaceObject, nil for null.
	Namespace *corev1.Namespace
}

// NewInput returns the input of a request. The user may be nil.
func NewInput(r *match.Request, target *match.Target, by *authenticationv1.UserInfo) (*Input, error) {
	obj, err := target.Show(r.Object)
	if err != nil {
		return nil, err
	}
	old, err := target.Show(r.OldObject)
	if err != nil {
		return nil, err
	}
	attributes := &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(
			obj, old, r.Kind, r.Namespace, r.Name, r.Target.Resource, r.Subresource,
			admission.Operation(r.Operation), r.SentOptions(), r.Options.DryRun, UserInfo(by)),
		VersionedKind:      target.Kind,
		VersionedObject:    admission.NewLazyObject(obj),
		VersionedOldObject: admission.NewLazyObject(old),
	}
	return &Input{
		Attributes: attributes,
		Request: plugincel.CreateAdmissionRequest(attributes,
			metav1.GroupVersionResource(target.Resource), metav1.GroupVersionKind(target.Kind)),
		Bindings: plugincel.OptionalVariableBindings{Authorizer: authorizer{r.Catalog.Authorizer()}},
	}, nil
}

// WithParams returns a copy of the input with these params, which may be nil.
func (in *Input) WithParams(params runtime.Object) *Input {
	out := *in
	out.Bindings.VersionedParams = params
	return &out
}

// UserInfo converts a user, which may be nil, to the type of k8s.io/apiserver.
func UserInfo(u *authenticationv1.UserInfo) user.Info {
	if u == nil {
		u = &authenticationv1.UserInfo{}
	}
	info := &user.DefaultInfo{Name: u.Username, UID: u.UID, Groups: u.Groups, Extra: map[string][]string{}}
	for key, values := range u.Extra {
		info.Extra[key] = values
	}
	return info
}

// SetNamespace sets namespaceObject to the fields of a namespace that expressions may read. The
// namespace may be nil.
func (in *Input) SetNamespace(namespace *corev1.Namespace) {
	in.Namespace = plugincel.CreateNamespaceObject(namespace)
}
