package integration_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/internal/servertest"
)

func TestTokenRequests(t *testing.T) {
	server := secureServer(t, nil)
	admin := servertest.Client(t, server.RESTConfig())
	core := admin.CoreV1()
	pod := func(name, account string) types.UID {
		obj, err := core.Pods("default").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.PodSpec{ServiceAccountName: account, NodeName: "gone", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}, metav1.CreateOptions{})
		check(t, err)
		return obj.UID
	}
	_, err := core.ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot"}}, metav1.CreateOptions{})
	check(t, err)
	uid := pod("mine", "bot")
	pod("theirs", "other")
	_, err = core.Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
	check(t, err)

	bound := func(kind, name string, uid types.UID) authenticationv1.TokenRequestSpec {
		return authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: kind, Name: name, UID: uid}}
	}
	attestation := map[string]authenticationv1.AttestationValue{"admissionReviewAPIGroups": {"apps"}}
	webhook := func(audiences []string, attestations map[string]authenticationv1.AttestationValue) authenticationv1.TokenRequestSpec {
		return authenticationv1.TokenRequestSpec{Audiences: audiences, Attestations: attestations, BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Name: "w"}}
	}
	for name, tc := range map[string]struct {
		spec authenticationv1.TokenRequestSpec
		want string // the error; "" for success
	}{
		"another audience":                    {authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}, ExpirationSeconds: ptr.To[int64](600)}, ""},
		"bound to its pod":                    {bound("Pod", "mine", uid), ""},
		"bound to a secret":                   {bound("Secret", "s", ""), ""},
		"too short":                           {authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](599)}, `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`},
		"bound to a pod of another account":   {bound("Pod", "theirs", ""), `cannot bind token for serviceaccount "bot" to pod running with different serviceaccount name.`},
		"bound to an earlier pod of the name": {bound("Pod", "mine", "old"), `Operation cannot be fulfilled on Pod "mine": the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated`},
		"bound to a missing pod":              {bound("Pod", "none", ""), `pods "none" not found`},
		"bound to a webhook":                  {webhook([]string{"a"}, nil), `TokenRequest.authentication.k8s.io "" is invalid: spec.attestations: Invalid value: null: webhook bound requests require exactly one admissionReviewAPIGroups attestation`},
		"bound to a webhook with attestation": {webhook([]string{"a"}, attestation), `cannot bind token to object of type admissionregistration.k8s.io/v1, Kind=ValidatingWebhookConfiguration (feature gate APIServerWebhookAuthenticationToken is disabled)`},
		"bound to a webhook, two audiences":   {webhook([]string{"a", "b"}, attestation), `TokenRequest.authentication.k8s.io "" is invalid: spec.audiences: Invalid value: ["a","b"]: must be length 1 when bound to a webhook config`},
		"an attestation without a webhook":    {authenticationv1.TokenRequestSpec{Attestations: attestation, ExpirationSeconds: ptr.To[int64](1)}, `TokenRequest.authentication.k8s.io "" is invalid: spec.attestations: Invalid value: {"admissionReviewAPIGroups":["apps"]}: attestations may only be specified with a webhook bound object reference`},
		"bound to another kind":               {bound("ConfigMap", "c", ""), `cannot bind token to object of type /v1, Kind=ConfigMap`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := core.ServiceAccounts("default").CreateToken(t.Context(), "bot", &authenticationv1.TokenRequest{Spec: tc.spec}, metav1.CreateOptions{})
			if tc.want != "" {
				if err == nil || err.Error() != tc.want {
					t.Errorf("got  %v\nwant %s", err, tc.want)
				}
				return
			}
			check(t, err)
			review, err := admin.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
				Spec: authenticationv1.TokenReviewSpec{Token: got.Status.Token, Audiences: got.Spec.Audiences},
			}, metav1.CreateOptions{})
			check(t, err)
			if !review.Status.Authenticated {
				t.Errorf("the token is invalid: %s", review.Status.Error)
			}
			pod, node := review.Status.User.Extra["authentication.kubernetes.io/pod-name"], review.Status.User.Extra["authentication.kubernetes.io/node-name"]
			if (len(pod) == 1 && pod[0] == "mine" && len(node) == 1 && node[0] == "gone") != (tc.spec.BoundObjectRef != nil && tc.spec.BoundObjectRef.Kind == "Pod") {
				t.Errorf("bound to pod %v on node %v", pod, node)
			}
		})
	}
}

// The status of a review has the requested audiences that the token is valid for, in their order.
func TestAudiencesOfTokenReviews(t *testing.T) {
	server := secureServer(t, nil)
	token := accountToken(t, server, "vault", "registry", "https://kubernetes.default.svc")
	for name, tc := range map[string]struct{ requested, want []string }{
		"in another order": {[]string{"registry", "other", "vault"}, []string{"registry", "vault"}},
		"twice":            {[]string{"vault", "vault"}, []string{"vault", "vault"}},
		"the default":      {nil, []string{"https://kubernetes.default.svc"}},
	} {
		t.Run(name, func(t *testing.T) {
			review, err := servertest.Client(t, server.RESTConfig()).AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
				Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: tc.requested},
			}, metav1.CreateOptions{})
			check(t, err)
			if diff := cmp.Diff(tc.want, review.Status.Audiences); diff != "" {
				t.Errorf("%s (-want +got):\n%s", review.Status.Error, diff)
			}
		})
	}
}

// A request with the lifetime of the plugin ServiceAccount, for a pod and the server, has a token
// that lives longer than its answer says.
func TestExtendedTokens(t *testing.T) {
	server := secureServer(t, nil)
	core := servertest.Client(t, server.RESTConfig()).CoreV1()
	account, err := core.ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot"}}, metav1.CreateOptions{})
	check(t, err)
	_, err = core.Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: corev1.PodSpec{ServiceAccountName: "bot", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}, metav1.CreateOptions{})
	check(t, err)
	pod := &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p"}
	const year = 365 * 24 * 60 * 60
	for name, tc := range map[string]struct {
		spec             authenticationv1.TokenRequestSpec
		lifetime, warned int64
	}{
		"of a projected volume": {authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](3607), BoundObjectRef: pod}, year, 3607},
		"another lifetime":      {authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](3600), BoundObjectRef: pod}, 3600, 0},
		"another audience":      {authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](3607), BoundObjectRef: pod, Audiences: []string{"vault"}}, 3607, 0},
		"no pod":                {authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](3607)}, 3607, 0},
	} {
		t.Run(name, func(t *testing.T) {
			request := &authenticationv1.TokenRequest{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: tc.spec}
			answer, err := core.ServiceAccounts("default").CreateToken(t.Context(), "bot", request, metav1.CreateOptions{})
			check(t, err)
			payload, err := base64.RawURLEncoding.DecodeString(strings.Split(answer.Status.Token, ".")[1])
			check(t, err)
			var content struct {
				Issued     int64 `json:"iat"`
				Expires    int64 `json:"exp"`
				Kubernetes struct {
					WarnAfter int64 `json:"warnafter"`
				} `json:"kubernetes.io"`
			}
			check(t, json.Unmarshal(payload, &content))
			warned := max(content.Kubernetes.WarnAfter-content.Issued, 0)
			if content.Expires-content.Issued != tc.lifetime || warned != tc.warned {
				t.Errorf("%d seconds, a warning after %d, want %d and %d", content.Expires-content.Issued, warned, tc.lifetime, tc.warned)
			}
			if got := answer.Status.ExpirationTimestamp.Unix() - content.Issued; got != *tc.spec.ExpirationSeconds {
				t.Errorf("the answer expires after %d seconds", got)
			}
			if answer.UID != account.UID || answer.Labels["a"] != "b" || answer.CreationTimestamp.Unix() != content.Issued {
				t.Errorf("metadata %v", answer.ObjectMeta)
			}
		})
	}
}
