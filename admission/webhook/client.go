package webhook

import (
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/internal/webhooks"
)

// targetOf returns the target of a client configuration.
func targetOf(config admissionregistrationv1.WebhookClientConfig) webhooks.Target {
	target := webhooks.Target{URL: config.URL, CABundle: config.CABundle}
	if s := config.Service; s != nil {
		target.Service = &webhooks.Service{Namespace: s.Namespace, Name: s.Name, Port: ptr.Deref(s.Port, 443)}
		target.Path = ptr.Deref(s.Path, "")
	}
	return target
}

// reviewSerializer decodes the responses of webhooks. The process shares it.
var reviewSerializer = sync.OnceValue(func() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	utilruntime.Must(admissionv1.AddToScheme(scheme))
	utilruntime.Must(admissionv1beta1.AddToScheme(scheme))
	return serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{
		Serializer: serializer.NewCodecFactory(scheme).LegacyCodec(admissionv1beta1.SchemeGroupVersion, admissionv1.SchemeGroupVersion),
	})
})
