package plugin

import (
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission/install"

	"github.com/miniapi/miniapi/internal/webhooks"
)

// WebhookCredentials are the credentials for admission webhooks. Nil: none are configured.
type WebhookCredentials struct{ Mutating, Validating webhooks.Credentials }

// WebhookCredentials loads the kubeconfigs of the webhook plugins.
func (c Config) WebhookCredentials() (WebhookCredentials, error) {
	s, err := c.settings()
	return WebhookCredentials{s.mutatingWebhooks.credentials, s.validatingWebhooks.credentials}, err
}

// webhookConfig is the configuration of a webhook plugin.
type webhookConfig struct {
	credentials webhooks.Credentials
	// manifests is set if the configuration has a staticManifestsDir, which is not implemented.
	manifests bool
}

// parseWebhookConfig decodes a configuration, which may be empty, and loads its kubeconfig.
func parseWebhookConfig(data []byte) (webhookConfig, error) {
	if data == nil {
		return webhookConfig{}, nil
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	obj, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), data)
	if err != nil {
		return webhookConfig{}, err
	}
	config, ok := obj.(*webhookadmission.WebhookAdmission)
	if !ok {
		return webhookConfig{}, fmt.Errorf("unexpected type: %T", obj)
	}
	result := webhookConfig{manifests: config.StaticManifestsDir != ""}
	switch {
	case config.KubeConfigFile == "":
		return result, nil
	case !filepath.IsAbs(config.KubeConfigFile):
		return result, field.Invalid(field.NewPath("kubeConfigFile"), config.KubeConfigFile, "must be an absolute file path")
	}
	result.credentials, err = webhooks.LoadCredentials(config.KubeConfigFile)
	return result, err
}
