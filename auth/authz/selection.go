package authz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"

	"github.com/miniapi/miniapi/auth/webhook"
	"github.com/miniapi/miniapi/internal/configfile"
)

// Selection selects the authorizers of a server: by Modes, or by the file of the flag
// --authorization-config.
type Selection struct {
	// Modes is the list of modes. It is ignored if File is set.
	Modes Modes
	// Webhook is the webhook of the mode Webhook.
	Webhook WebhookConfig
	// File is the path of an AuthorizationConfiguration of apiserver.config.k8s.io.
	File string
}

// WebhookConfig names the server that authorizes requests in the mode Webhook.
type WebhookConfig struct {
	// ConfigFile is a kubeconfig with the server and the credentials for it.
	ConfigFile string
	// Version is the version of the SubjectAccessReviews, v1 or v1beta1. Default: v1beta1, as in
	// kube-apiserver.
	Version string
	// AuthorizedTTL and UnauthorizedTTL are how long answers are cached. Default: 5 minutes and 30
	// seconds; negative: not at all.
	AuthorizedTTL, UnauthorizedTTL time.Duration
}

// Validate returns all errors of the selection, nil if it is valid. It loads the files.
func (s Selection) Validate() error {
	if s.File == "" {
		if err := s.validateModes(); err != nil {
			return err
		}
		if !s.Modes.Has(ModeWebhook) {
			return nil
		}
	}
	config, err := s.load()
	if err != nil {
		return err
	}
	_, _, err = newWebhooks(config, nil, nil)
	return err
}

func (s Selection) validateModes() error {
	errs := []error{s.Modes.Validate()}
	switch has := s.Modes.Has(ModeWebhook); {
	case has && s.Webhook.ConfigFile == "":
		errs = append(errs, errors.New("authorization mode \"Webhook\" needs a server: set --authorization-webhook-config-file"))
	case !has && s.Webhook != (WebhookConfig{}):
		errs = append(errs, errors.New("--authorization-webhook-* flags need the mode Webhook in --authorization-mode"))
	}
	return errors.Join(errs...)
}

// Has reports whether a mode is selected. It is false if the file cannot be loaded.
func (s Selection) Has(mode string) bool {
	if s.File == "" {
		return s.Modes.Has(mode)
	}
	config, err := s.load()
	return err == nil && slices.Contains(typesOf(config), mode)
}

// typesOf returns the modes of a configuration.
func typesOf(config *apiserver.AuthorizationConfiguration) []string {
	var types []string
	for _, authorizer := range config.Authorizers {
		types = append(types, string(authorizer.Type))
	}
	return types
}

// load returns the valid configuration of the file or the modes.
func (s Selection) load() (*apiserver.AuthorizationConfiguration, error) {
	if s.File == "" {
		return s.ofModes(), nil
	}
	config, err := configfile.Load[*apiserver.AuthorizationConfiguration](s.File)
	if err == nil {
		err = validateConfiguration(config)
	}
	if err != nil {
		return nil, fmt.Errorf("--authorization-config: %w", err)
	}
	return config, nil
}

func validateConfiguration(config *apiserver.AuthorizationConfiguration) error {
	errs := validation.ValidateAuthorizationConfiguration(
		authorizationcel.NewDefaultCompiler(), nil, config, sets.New(knownModes...), sets.New(ModeWebhook))
	for i, authorizer := range config.Authorizers {
		path := field.NewPath("authorizers").Index(i)
		mode := string(authorizer.Type)
		if name := strings.ToLower(mode); mode != ModeWebhook && slices.Contains(knownModes, mode) && authorizer.Name != name {
			errs = append(errs, field.Invalid(path.Child("name"), authorizer.Name, fmt.Sprintf("expected name %s for authorizer %s", name, mode)))
		}
		if authorizer.Webhook != nil && authorizer.Webhook.ConnectionInfo.Type == apiserver.AuthorizationWebhookConnectionInfoTypeInCluster {
			errs = append(errs, field.Forbidden(path.Child("connectionInfo", "type"), "the server is not in a cluster: use KubeConfigFile"))
		}
	}
	return errs.ToAggregate()
}

// ofModes returns the configuration that is equal to the modes.
func (s Selection) ofModes() *apiserver.AuthorizationConfiguration {
	config := &apiserver.AuthorizationConfiguration{}
	for _, mode := range s.Modes.list() {
		authorizer := apiserver.AuthorizerConfiguration{Type: apiserver.AuthorizerType(mode), Name: strings.ToLower(mode)}
		if mode == ModeWebhook {
			authorizer.Name, authorizer.Webhook = "default", s.Webhook.configuration() // the name in kube-apiserver
		}
		config.Authorizers = append(config.Authorizers, authorizer)
	}
	return config
}

func (c WebhookConfig) configuration() *apiserver.WebhookConfiguration {
	authorized, unauthorized := cmp.Or(c.AuthorizedTTL, 5*time.Minute), cmp.Or(c.UnauthorizedTTL, 30*time.Second)
	return &apiserver.WebhookConfiguration{
		AuthorizedTTL:              metav1.Duration{Duration: authorized},
		CacheAuthorizedRequests:    authorized > 0,
		UnauthorizedTTL:            metav1.Duration{Duration: unauthorized},
		CacheUnauthorizedRequests:  unauthorized > 0,
		Timeout:                    metav1.Duration{Duration: 30 * time.Second},
		FailurePolicy:              apiserver.FailurePolicyNoOpinion,
		SubjectAccessReviewVersion: cmp.Or(c.Version, webhook.V1beta1),
		ConnectionInfo: apiserver.WebhookConnectionInfo{
			Type: apiserver.AuthorizationWebhookConnectionInfoTypeKubeConfigFile, KubeConfigFile: &c.ConfigFile,
		},
	}
}
