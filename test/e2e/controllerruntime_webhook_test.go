package e2e_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// sizes is a typical webhook. It defaults the size of ConfigMaps and makes it immutable.
type sizes struct{}

func (sizes) Default(_ context.Context, c *corev1.ConfigMap) error {
	if c.Data["size"] == "" {
		c.Data = map[string]string{"size": "1"}
	}
	return nil
}

func (sizes) ValidateCreate(_ context.Context, c *corev1.ConfigMap) (admission.Warnings, error) {
	if _, err := strconv.Atoi(c.Data["size"]); err != nil {
		return nil, errors.New("the size is no number")
	}
	return nil, nil
}

func (sizes) ValidateUpdate(ctx context.Context, old, c *corev1.ConfigMap) (admission.Warnings, error) {
	if old.Data["size"] != c.Data["size"] {
		return nil, errors.New("the size may not change")
	}
	return nil, nil
}

func (sizes) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, errors.New("it may not go")
}

// sizesConfig returns the configurations that kubebuilder generates from markers. envtest replaces
// their Services by URLs.
func sizesConfig() envtest.WebhookInstallOptions {
	client := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{
			Service: &admissionregistrationv1.ServiceReference{Namespace: "system", Name: "webhook-service", Path: &path},
		}
	}
	rules := func(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: admissionregistrationv1.Rule{
			APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
		}}}
	}
	const create, update, remove = admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionregistrationv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "mutating"},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "mconfigmap.kb.io", ClientConfig: client("/mutate--v1-configmap"), Rules: rules(create, update),
				SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			}},
		}},
		ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "validating"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "vconfigmap.kb.io", ClientConfig: client("/validate--v1-configmap"), Rules: rules(create, update, remove),
				SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			}},
		}},
	}
}

func TestEnvtestInstallsWebhooks(t *testing.T) {
	env := existing(servertest.Start(t, miniapi.Config{}))
	env.WebhookInstallOptions = sizesConfig()
	config, err := env.Start()
	check(t, err)
	local := env.WebhookInstallOptions
	mgr := newManager(t, config, ctrl.Options{WebhookServer: webhook.NewServer(webhook.Options{
		Host: local.LocalServingHost, Port: local.LocalServingPort, CertDir: local.LocalServingCertDir,
	})})
	check(t, ctrl.NewWebhookManagedBy(mgr, &corev1.ConfigMap{}).WithDefaulter(sizes{}).WithValidator(sizes{}).Complete())
	background(t, mgr.Start)
	awaitWebhooks(t, mgr)

	c, err := client.New(config, client.Options{})
	check(t, err)
	filled := newConfigMap("filled")
	filled.Data = nil
	check(t, c.Create(t.Context(), filled))
	if filled.Data["size"] != "1" {
		t.Errorf("data %v", filled.Data)
	}
	wrong := newConfigMap("wrong")
	wrong.Data = map[string]string{"size": "large"}
	refused(t, c.Create(t.Context(), wrong), "the size is no number")
	filled.Data["size"] = "2"
	refused(t, c.Update(t.Context(), filled), "the size may not change")
	refused(t, c.Delete(t.Context(), filled), "it may not go")
	check(t, env.WebhookInstallOptions.Cleanup())
}

// awaitWebhooks polls until the webhooks are called, as test suites do.
func awaitWebhooks(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	for mgr.GetWebhookServer().StartedChecker()(nil) != nil {
		check(t, t.Context().Err())
	}
}

func refused(t *testing.T, err error, why string) {
	t.Helper()
	want := `admission webhook "vconfigmap.kb.io" denied the request: ` + why
	if !apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
