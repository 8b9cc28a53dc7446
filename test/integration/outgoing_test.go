package integration_test

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/oidc/oidctest"
	"github.com/miniapi/miniapi/internal/servertest"
)

// OutgoingAllow limits admission webhooks, token webhooks and token issuers.
func TestOutgoingAddressesAreLimited(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	webhook := newReviewer(t, func(map[string]any) map[string]any { return map[string]any{"authenticated": false} })
	const refused = "the address is not allowed by --outgoing-allow"
	for name, tc := range map[string]struct {
		allowed []string
		refused bool
	}{
		"loopback":        {[]string{"127.0.0.0/8"}, false},
		"another network": {[]string{"10.0.0.0/8", "example.com:443"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := secureServer(t, func(c *miniapi.Config) {
				c.OutgoingAllow = tc.allowed
				c.Secure.AuthenticationConfig = authenticationConfig(t, issuer, "")
				c.Secure.TokenWebhook = miniapi.TokenWebhook{ConfigFile: webhook.kubeconfig}
			})
			client := servertest.Client(t, server.RESTConfig())
			for _, token := range []string{issuer.Token(t, nil), "other"} {
				review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
				review, err := client.AuthenticationV1().TokenReviews().Create(t.Context(), review, metav1.CreateOptions{})
				check(t, err)
				if strings.Contains(review.Status.Error, refused) != tc.refused {
					t.Errorf("a token: %s", review.Status.Error)
				}
			}
			none := admissionregistrationv1.SideEffectClassNone
			_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
				ObjectMeta: metav1.ObjectMeta{Name: "a"},
				Webhooks: []admissionregistrationv1.ValidatingWebhook{{
					Name: "a.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
					ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &webhook.url},
					Rules: []admissionregistrationv1.RuleWithOperations{{
						Operations: []admissionregistrationv1.OperationType{"CREATE"},
						Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
					}},
				}},
			}, metav1.CreateOptions{})
			check(t, err)
			_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a"), metav1.CreateOptions{})
			if err == nil || strings.Contains(err.Error(), refused) != tc.refused { // the CA is unknown
				t.Errorf("a webhook: %v", err)
			}
		})
	}
}
