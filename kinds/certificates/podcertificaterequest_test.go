package certificates

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

type podRequest = certificatesv1.PodCertificateRequest

// newPodRequest returns a valid request and the key that it was signed with.
func newPodRequest(t *testing.T) (*podRequest, ed25519.PrivateKey) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &podRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "r"},
		Spec: certificatesv1.PodCertificateRequestSpec{
			SignerName: "example.com/s", PodName: "p", PodUID: "1", ServiceAccountName: "a", ServiceAccountUID: "2",
			NodeName: "n", NodeUID: "3", MaxExpirationSeconds: new(int32(86400)), StubPKCS10Request: stubRequest(t, key),
		},
	}, key
}

func stubRequest(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestPodCertificateRequests(t *testing.T) {
	valid, _ := newPodRequest(t)
	weak, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weakRequest := stubRequest(t, weak)
	check := registrytest.Rules(t, valid.DeepCopy, validatePodRequest)
	check("a valid request", func(*podRequest) {})
	check("names and uids are required", func(r *podRequest) {
		r.Spec.PodUID, r.Spec.ServiceAccountUID, r.Spec.NodeUID = "", "", ""
	}, `spec.podUID: Invalid value: "": must not be empty`, `spec.serviceAccountUID: Invalid value: "": must not be empty`,
		`spec.nodeUID: Invalid value: "": must not be empty`)
	check("the signer has a domain", func(r *podRequest) { r.Spec.SignerName = "s" },
		`spec.signerName: Invalid value: "s": must be a fully qualified domain and path of the form 'example.com/signer-name'`)
	check("the lifetime is set", func(r *podRequest) { r.Spec.MaxExpirationSeconds = nil }, "spec.maxExpirationSeconds: Required value: must be set")
	check("the lifetime is at least one hour", func(r *podRequest) { *r.Spec.MaxExpirationSeconds = 3599 },
		"spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]")
	check("signers of Kubernetes issue for at most one day", func(r *podRequest) {
		r.Spec.SignerName, *r.Spec.MaxExpirationSeconds = "kubernetes.io/s", 86401
	}, "spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]")
	check("annotations have domains", func(r *podRequest) { r.Spec.UnverifiedUserAnnotations = map[string]string{"a": "b"} },
		`spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`)
	check("the stub is required", func(r *podRequest) { r.Spec.StubPKCS10Request = nil },
		"spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
	check("the stub is a request", func(r *podRequest) { r.Spec.StubPKCS10Request = []byte("x") },
		"spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR")
	check("the stub is signed", func(r *podRequest) { r.Spec.StubPKCS10Request[len(r.Spec.StubPKCS10Request)-1] ^= 1 },
		"spec.stubPKCS10Request: Invalid value: invalid signature")
	check("the key is strong", func(r *podRequest) { r.Spec.StubPKCS10Request = weakRequest },
		`spec.stubPKCS10Request: Invalid value: "curve P-224": elliptic public keys must use curve P256, P384, or P521`)
}

// issue returns a change of the status to a certificate for a key, valid for two hours.
func issue(t *testing.T, key ed25519.PrivateKey) func(*podRequest) {
	t.Helper()
	start := time.Now().Truncate(time.Second)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: start, NotAfter: start.Add(2 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return func(r *podRequest) {
		r.Status = certificatesv1.PodCertificateRequestStatus{
			Conditions:       []metav1.Condition{{Type: "Issued", Status: metav1.ConditionTrue, Reason: "R", LastTransitionTime: metav1.Now()}},
			CertificateChain: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
			NotBefore:        new(metav1.NewTime(template.NotBefore)),
			NotAfter:         new(metav1.NewTime(template.NotAfter)),
			BeginRefreshAt:   new(metav1.NewTime(start.Add(time.Hour))),
		}
	}
}

func TestPodCertificateRequestStatus(t *testing.T) {
	pending, key := newPodRequest(t)
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issued, foreign := issue(t, key), issue(t, other)
	finished := pending.DeepCopy()
	issued(finished)
	end := func(condition string) func(*podRequest) {
		return func(r *podRequest) {
			r.Status.Conditions = []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue, Reason: "R", LastTransitionTime: metav1.Now()}}
		}
	}
	with := func(changes ...func(*podRequest)) func(*podRequest) {
		return func(r *podRequest) {
			for _, change := range changes {
				change(r)
			}
		}
	}
	const chain = "status.certificateChain: Invalid value: "
	for _, tc := range []struct {
		rule   string
		old    *podRequest
		change func(*podRequest)
		want   string // the beginning of the first error
	}{
		{"an issued certificate", pending, issued, ""},
		{"a denial", pending, end("Denied"), ""},
		{"a failure", pending, end("Failed"), ""},
		{"a finished request is immutable", finished, end("Denied"),
			"status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"},
		{"a denial has no certificate", pending, with(issued, end("Denied")), "status: Invalid value: non-condition status fields must be empty"},
		{"without a condition the status stays", pending, with(issued, func(r *podRequest) { r.Status.Conditions = nil }),
			"status: Invalid value: status is immutable unless transitioning to"},
		{"other conditions are rejected", pending, end("Ready"),
			`status.conditions.[0].type: Unsupported value: "Ready": supported values: "Issued", "Denied", "Failed"`},
		{"conditions are true", pending, with(end("Denied"), func(r *podRequest) { r.Status.Conditions[0].Status = metav1.ConditionFalse }),
			`status.conditions.[0].status: Unsupported value: "False": supported values: "True"`},
		{"the certificate has the requested key", pending, foreign, chain},
		{"the chain has a certificate", pending, with(issued, func(r *podRequest) { r.Status.CertificateChain = "x" }), chain + `"x": issued certificate chain`},
		{"times are required", pending, with(issued, func(r *podRequest) { r.Status.NotAfter = nil }), "status.notAfter: Required value"},
		{"times are those of the certificate", pending, with(issued, func(r *podRequest) {
			r.Status.NotBefore = new(metav1.NewTime(r.Status.NotBefore.Add(-time.Second)))
		}), "status.notBefore: Invalid value"},
		{"the refresh is inside the lifetime", pending, with(issued, func(r *podRequest) { r.Status.BeginRefreshAt = r.Status.NotAfter }),
			"status.beginRefreshAt: Invalid value"},
		{"the lifetime was requested", func() *podRequest {
			r := pending.DeepCopy()
			r.Spec.MaxExpirationSeconds = new(int32(3600))
			return r
		}(), issued, chain + `7200000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (3600)`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			r := tc.old.DeepCopy()
			tc.change(r)
			got := ""
			if texts := registrytest.Texts(validatePodRequestStatus(r, tc.old)); len(texts) > 0 {
				got = texts[0][:min(len(texts[0]), max(len(tc.want), 1))]
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

type denyAll struct{ registry.Authorizer }

func (denyAll) Authorize(context.Context, registry.Access) (registry.Decision, error) {
	return registry.Decision{}, nil
}

func TestSigningNeedsPermission(t *testing.T) {
	old, key := newPodRequest(t)
	signed := old.DeepCopy()
	issue(t, key)(signed)
	ctx := registry.WithUser(t.Context(), &authenticationv1.UserInfo{Username: "jane"})
	authorize := func(authorizer registry.Authorizer, r *podRequest) []string {
		v := registry.Validation{
			Catalog: registry.NewCatalog(registry.CatalogConfig{Authorizer: authorizer}), Subresource: "status", Verb: "update", Obj: r, Old: old,
		}
		return registrytest.Texts(authorizePodRequestStatus(ctx, v, nil))
	}
	want := []string{`spec.signerName: Forbidden: User "jane" is not permitted to "sign" for signer "example.com/s"`}
	if diff := cmp.Diff(want, authorize(denyAll{}, signed)); diff != "" {
		t.Errorf("a changed status (-want +got):\n%s", diff)
	}
	if got := authorize(denyAll{}, old); got != nil {
		t.Errorf("an unchanged status: %q", got)
	}
	if got := authorize(nil, signed); got != nil {
		t.Errorf("everybody may sign: %q", got)
	}
}

func TestPodCertificateRequestCells(t *testing.T) {
	r, _ := newPodRequest(t)
	want := []any{"r", "p", "a", "n", "example.com/s", "Pending", "<none>"}
	if diff := cmp.Diff(want, registrytest.Cells(podCertificateRequests(feature.Default()), r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
