package integration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// A namespace gets a pod security standard in two steps, as the Kubernetes documentation
// recommends: first as warnings, then enforced.
func TestPodSecurityLevels(t *testing.T) {
	warnings := &servertest.Warnings{}
	config := servertest.Start(t, miniapi.Config{}).RESTConfig()
	config.WarningHandler = warnings
	client := servertest.Client(t, config).CoreV1()
	pod := func(name string, hostNetwork bool) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
			HostNetwork: hostNetwork, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}
	}
	create := func(pod *corev1.Pod) error {
		_, err := client.Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	}
	label := func(mode string) {
		t.Helper()
		patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/` + mode + `":"baseline"}}}`)
		_, err := client.Namespaces().Patch(t.Context(), "default", types.MergePatchType, patch, metav1.PatchOptions{})
		check(t, err)
	}
	wantWarnings := func(want ...string) {
		t.Helper()
		if got := warnings.Take(); !slices.Equal(got, want) {
			t.Errorf("warnings %q\nwant %q", got, want)
		}
	}
	check(t, create(pod("before", true)))
	wantWarnings()
	label("warn")
	wantWarnings()
	check(t, create(pod("warned", true)))
	wantWarnings(`would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`)
	label("enforce")
	wantWarnings(`existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"`, `before (and 1 other pod): host namespaces`)
	const want = `pods "rejected" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`
	if err := create(pod("rejected", true)); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	check(t, create(pod("good", false)))
	wantWarnings()
}

// Approving or signing a CertificateSigningRequest requires a right on its signer.
func TestCertificateSignersAreAuthorized(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Authorization: miniapi.RBAC})
	admin := servertest.Client(t, server.RESTConfig())
	signerRule := func(verb string, signers ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{certificatesv1.GroupName}, Resources: []string{"signers"}, ResourceNames: signers}
	}
	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "signers"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"update"}, APIGroups: []string{certificatesv1.GroupName}, Resources: []string{"certificatesigningrequests/approval", "certificatesigningrequests/status"}},
		signerRule("approve", "acme.io/*"), signerRule("sign", "acme.io/one"),
	}}, metav1.CreateOptions{})
	check(t, err)
	_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "signers"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "signers"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "ann"}},
	}, metav1.CreateOptions{})
	check(t, err)
	ann := userOf(t, server, "ann").CertificatesV1().CertificateSigningRequests()
	approve := func(r *certificatesv1.CertificateSigningRequest) error {
		r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue})
		_, err := ann.UpdateApproval(t.Context(), r.Name, r, metav1.UpdateOptions{})
		return err
	}
	fail := func(r *certificatesv1.CertificateSigningRequest) error {
		r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue})
		_, err := ann.UpdateStatus(t.Context(), r, metav1.UpdateOptions{})
		return err
	}
	relabel := func(r *certificatesv1.CertificateSigningRequest) error {
		r.Labels = map[string]string{"a": "b"}
		_, err := ann.UpdateStatus(t.Context(), r, metav1.UpdateOptions{})
		return err
	}
	for _, tc := range []struct {
		name, signer string
		decide       func(*certificatesv1.CertificateSigningRequest) error
		want         string // the message after the name
	}{
		{"approve for all signers of a domain", "acme.io/two", approve, ""},
		{"approve for another domain", "other.io/one", approve, `user not permitted to approve requests with signerName "other.io/one"`},
		{"sign for a named signer", "acme.io/one", fail, ""},
		{"sign for another signer", "acme.io/two", fail, `user not permitted to sign requests with signerName "acme.io/two"`},
		{"other changes need no right on the signer", "other.io/one", relabel, ""},
	} {
		request, err := admin.CertificatesV1().CertificateSigningRequests().Create(t.Context(), signingRequest(t, tc.signer), metav1.CreateOptions{})
		check(t, err)
		got, want := "", ""
		if err := tc.decide(request); err != nil {
			got = err.Error()
		}
		if tc.want != "" {
			want = `certificatesigningrequests.certificates.k8s.io "` + request.Name + `" is forbidden: ` + tc.want
		}
		if got != want {
			t.Errorf("%s: got %q\nwant %q", tc.name, got, want)
		}
	}
}

func signingRequest(t *testing.T, signer string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	check(t, err)
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "r-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: signer, Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
		},
	}
}
