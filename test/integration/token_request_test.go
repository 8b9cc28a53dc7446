package integration_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func TestTokenRequests(t *testing.T) {
	server := secureServer(t, nil)
	admin := clientFor(t, server.RESTConfig())
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
