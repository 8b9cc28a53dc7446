package certificates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"

	"github.com/miniapi/miniapi/registry/registrytest"
)

var long = metav1.NewTime(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))

func condition(kind certificatesv1.RequestConditionType) certificatesv1.CertificateSigningRequestCondition {
	return certificatesv1.CertificateSigningRequestCondition{
		Type: kind, Status: corev1.ConditionTrue, LastUpdateTime: long, LastTransitionTime: long,
	}
}

func withConditions(conditions ...certificatesv1.CertificateSigningRequestCondition) *certificatesv1.CertificateSigningRequest {
	csr := &certificatesv1.CertificateSigningRequest{}
	csr.Spec.SignerName = "example.com/s"
	csr.Status.Conditions = conditions
	return csr
}

func subresource(t *testing.T, name string) *registry.UpdateStrategy {
	t.Helper()
	sub, ok := signingRequests(feature.Default()).Subresource(name)
	if !ok {
		t.Fatalf("there is no subresource %s", name)
	}
	return sub.Update
}

func TestRequestorIsTheUser(t *testing.T) {
	forged := &certificatesv1.CertificateSigningRequest{}
	forged.Spec.Username = "root"
	forged.Spec.Extra = map[string]certificatesv1.ExtraValue{"forged": {"yes"}}
	forged.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{condition(certificatesv1.CertificateApproved)}
	ctx := registry.WithUser(t.Context(), &authenticationv1.UserInfo{
		Username: "jane",
		UID:      "7",
		Groups:   []string{"devs"},
		Extra:    map[string]authenticationv1.ExtraValue{"scope": {"a", "b"}},
	})
	signingRequests(feature.Default()).Strategy.Create.Prepare(ctx, forged)

	want := &certificatesv1.CertificateSigningRequest{}
	want.Spec.Username, want.Spec.UID, want.Spec.Groups = "jane", "7", []string{"devs"}
	want.Spec.Extra = map[string]certificatesv1.ExtraValue{"scope": {"a", "b"}}
	if diff := cmp.Diff(want, forged); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestUpdateChangesNeitherSpecNorStatus(t *testing.T) {
	old := withConditions(condition(certificatesv1.CertificateApproved))
	changed := withConditions()
	changed.Spec.SignerName = "example.com/other"
	changed.Labels = map[string]string{"a": "b"}
	signingRequests(feature.Default()).Strategy.Update.Prepare(t.Context(), changed, old)

	want := old.DeepCopy()
	want.Labels = map[string]string{"a": "b"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("after the update (-want +got):\n%s", diff)
	}
}

func TestApprovalChangesConditionsAndSetsTheirTimes(t *testing.T) {
	old := withConditions(condition(certificatesv1.CertificateFailed))
	old.Status.Certificate = []byte("issued")
	failed := condition(certificatesv1.CertificateFailed)
	failed.LastTransitionTime, failed.LastUpdateTime = metav1.Time{}, metav1.Time{}
	approval := withConditions(failed, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
	})
	approval.Spec.SignerName = "example.com/other"
	approval.Status.Certificate = []byte("forged")

	subresource(t, "approval").Prepare(t.Context(), approval, old)
	if approval.Spec.SignerName != "example.com/s" || string(approval.Status.Certificate) != "issued" {
		t.Errorf("the approval changed signer or certificate: %s, %s", approval.Spec.SignerName, approval.Status.Certificate)
	}
	before, now := approval.Status.Conditions[0], approval.Status.Conditions[1]
	if !before.LastTransitionTime.Equal(&long) {
		t.Errorf("a condition that was there has a transition at %s", before.LastTransitionTime)
	}
	if now.LastTransitionTime.IsZero() || now.LastUpdateTime.IsZero() {
		t.Error("a new condition has no dates")
	}
}

func TestStatusKeepsApproval(t *testing.T) {
	old := withConditions(condition(certificatesv1.CertificateApproved))
	rewritten := condition(certificatesv1.CertificateApproved)
	rewritten.Reason = "Rewritten"
	status := withConditions(condition(certificatesv1.CertificateFailed), rewritten)
	subresource(t, "status").Prepare(t.Context(), status, old)
	if got := status.Status.Conditions[1].Reason; got != "" {
		t.Errorf("the reason of the approval became %q", got)
	}
}

func TestValidationOfConditions(t *testing.T) {
	approved := condition(certificatesv1.CertificateApproved)
	denied := condition(certificatesv1.CertificateDenied)
	unsure := approved
	unsure.Status = corev1.ConditionUnknown
	blank := certificatesv1.CertificateSigningRequestCondition{}
	issued := withConditions(approved)
	issued.Status.Certificate = []byte("old")
	reissued := withConditions(approved)
	reissued.Status.Certificate = []byte("new")
	cases := []struct {
		name        string
		subresource string
		obj, old    runtime.Object
		want        []string
	}{
		{"status does not approve", "status", withConditions(denied), withConditions(approved), []string{
			`status.conditions: Forbidden: updates may not remove a condition of type "Approved"`,
			`status.conditions: Forbidden: updates may not add a condition of type "Denied"`,
		}},
		{"approval approves", "approval", withConditions(approved), withConditions(), nil},
		{"an approval cannot be removed", "approval", withConditions(), withConditions(approved), []string{
			`status.conditions: Forbidden: updates may not remove a condition of type "Approved"`,
		}},
		{"Approved excludes Denied", "approval", withConditions(approved, denied), withConditions(approved), []string{
			`status.conditions: Invalid value: "{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": \"Denied\"}]}": ` +
				"must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`",
		}},
		{"condition types are unique", "approval", withConditions(approved, approved), withConditions(approved), []string{
			`status.conditions[1].type: Duplicate value: "Approved"`,
		}},
		{"an approval has status True", "approval", withConditions(unsure), withConditions(), []string{
			`status.conditions[0].status: Unsupported value: "Unknown": supported values: "True"`,
		}},
		{"type and status are required", "approval", withConditions(blank), withConditions(), []string{
			`status.conditions[0].type: Required value`,
			`status.conditions[0].status: Required value`,
		}},
		{"a certificate is issued once", "status", reissued, issued, []string{
			`status.certificate: Forbidden: updates may not modify existing certificate content`,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, err := range subresource(t, c.subresource).Validate(t.Context(), c.obj, c.old) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConditionColumn(t *testing.T) {
	approved, denied, failed := condition(certificatesv1.CertificateApproved), condition(certificatesv1.CertificateDenied), condition(certificatesv1.CertificateFailed)
	issued := withConditions(approved)
	issued.Status.Certificate = []byte("c")
	for want, csr := range map[string]*certificatesv1.CertificateSigningRequest{
		"Pending":         withConditions(),
		"Approved":        withConditions(approved),
		"Denied":          withConditions(approved, denied),
		"Approved,Failed": withConditions(approved, failed),
		"Approved,Issued": issued,
	} {
		if got := conditionCell(csr); got != want {
			t.Errorf("condition %q, want %q", got, want)
		}
	}
	csr := withConditions()
	csr.Spec.ExpirationSeconds = ptr.To[int32](3600)
	if got := registrytest.Cells(signingRequests(feature.Default()), csr)[4]; got != "60m" {
		t.Errorf("requested duration %v, want 60m", got)
	}
}
