package certificates

import (
	"context"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// TestRequestIsApprovedAndIssued creates a request as one user, approves it through one
// subresource, and issues the certificate through another.
func TestRequestIsApprovedAndIssued(t *testing.T) {
	env := registrytest.New(t, nil, signingRequests(feature.Default()))
	store := env.Store("certificatesigningrequests.certificates.k8s.io")
	requester := registry.WithUser(t.Context(), &authenticationv1.UserInfo{Username: "jane"})
	csr := newRequest(t)
	if _, err := store.Create(requester, registry.CreateRequest{Object: csr}); err != nil {
		t.Fatal(err)
	}
	write := func(subresource string, change func(*certificatesv1.CertificateSigningRequest)) error {
		_, err := store.Update(t.Context(), registry.UpdateRequest{
			Name:        "r",
			Subresource: subresource,
			Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
				next := current.DeepCopyObject().(*certificatesv1.CertificateSigningRequest)
				change(next)
				return next, nil
			},
		})
		return err
	}
	issued := newCertificate(t)
	approve := func(csr *certificatesv1.CertificateSigningRequest) {
		csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
		})
	}
	issue := func(csr *certificatesv1.CertificateSigningRequest) { csr.Status.Certificate = issued }

	err := write("status", approve)
	want := `CertificateSigningRequest.certificates.k8s.io "r" is invalid: status.conditions: Forbidden: updates may not add a condition of type "Approved"`
	if !apierrors.IsInvalid(err) || err.Error() != want {
		t.Errorf("approval through the status: %v\nwant %s", err, want)
	}
	for _, step := range []struct {
		subresource string
		change      func(*certificatesv1.CertificateSigningRequest)
	}{{"approval", approve}, {"status", issue}} {
		if err := write(step.subresource, step.change); err != nil {
			t.Fatalf("%s: %v", step.subresource, err)
		}
	}

	selected, err := store.List(t.Context(), registry.ListRequest{Field: fields.OneTermEqualSelector("spec.signerName", "example.com/s")})
	if err != nil {
		t.Fatal(err)
	}
	if len(selected.Entries) != 1 {
		t.Fatalf("%d requests for the signer, want 1", len(selected.Entries))
	}
	obj, err := selected.Entries[0].Object()
	if err != nil {
		t.Fatal(err)
	}
	done := obj.(*certificatesv1.CertificateSigningRequest)
	if done.Spec.Username != "jane" || conditionCell(done) != "Approved,Issued" {
		t.Errorf("asked by %q, condition %s", done.Spec.Username, conditionCell(done))
	}
	if deleted, err := store.Delete(t.Context(), registry.DeleteRequest{Name: "r", Options: &metav1.DeleteOptions{}}); err != nil || !deleted.Removed {
		t.Errorf("deletion: %+v, %v", deleted, err)
	}
}
