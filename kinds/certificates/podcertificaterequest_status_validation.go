package certificates

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	largestChain = 100 << 10 // bytes
	clockSkew    = 5 * time.Minute
	shortestLeaf = time.Hour
	// refreshMargin is the time between the start of the refresh and both ends of the lifetime.
	refreshMargin = 10 * time.Minute
)

var finalConditions = []string{
	certificatesv1.PodCertificateRequestConditionTypeIssued,
	certificatesv1.PodCertificateRequestConditionTypeDenied,
	certificatesv1.PodCertificateRequestConditionTypeFailed,
}

func isFinalCondition(name string) bool { return slices.Contains(finalConditions, name) }

// validatePodRequestStatus allows one transition, to the condition Issued with a certificate, or to
// Denied or Failed without.
func validatePodRequestStatus(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	at := field.NewPath("status")
	if errs := validateFinalConditions(r.Status.Conditions, at.Child("conditions")); len(errs) > 0 {
		return errs
	}
	unchanged := equality.Semantic.DeepEqual(r.Status, old.Status)
	switch outcome := outcomeOf(r); {
	case outcomeOf(old) != "":
		return unless(unchanged, at, "immutable after PodCertificateRequest is issued, denied, or failed")
	case outcome == certificatesv1.PodCertificateRequestConditionTypeIssued:
		return validateIssued(r, old)
	case outcome != "":
		onlyConditions := certificatesv1.PodCertificateRequestStatus{Conditions: r.Status.Conditions}
		return unless(equality.Semantic.DeepEqual(r.Status, onlyConditions), at,
			"non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	}
	return unless(unchanged, at, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
}

// outcomeOf returns the type of the condition that ends a request, or "".
func outcomeOf(r *certificatesv1.PodCertificateRequest) string {
	for _, c := range r.Status.Conditions {
		if isFinalCondition(c.Type) && c.Status == metav1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// unless returns an error without a value if ok is false.
func unless(ok bool, at *field.Path, message string) field.ErrorList {
	if ok {
		return nil
	}
	return field.ErrorList{field.Invalid(at, field.OmitValueType{}, message)}
}

// validateFinalConditions requires at most one condition, of a known type and with the status True.
func validateFinalConditions(conditions []metav1.Condition, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := 0
	for i, c := range conditions {
		// kube-apiserver separates the index by a dot.
		at := at.Child(fmt.Sprintf("[%d]", i))
		if !isFinalCondition(c.Type) {
			errs = append(errs, field.NotSupported(at.Child("type"), c.Type, finalConditions))
			continue
		}
		if known++; known > 1 {
			errs = append(errs, field.Invalid(at.Child("type"), c.Type, `There may be at most one condition with type "Issued", "Denied", or "Failed"`))
		}
		if c.Status != metav1.ConditionTrue {
			errs = append(errs, field.NotSupported(at.Child("status"), c.Status, []metav1.ConditionStatus{metav1.ConditionTrue}))
		}
	}
	return append(errs, metavalidation.ValidateConditions(conditions, at)...)
}

// issued validates an issued certificate chain. Its methods return the first error.
type issued struct {
	*certificatesv1.PodCertificateRequest
	leaf *x509.Certificate
}

func validateIssued(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	chain := field.NewPath("status", "certificateChain")
	text := r.Status.CertificateChain
	if len(text) > largestChain {
		return field.ErrorList{field.TooLong(chain, text, largestChain)}
	}
	blocks := pemBlocks(text)
	leaf, message := parseLeaf(blocks)
	if message != "" {
		return field.ErrorList{field.Invalid(chain, text, message)}
	}
	names := validateLeafNames(leaf, chain)
	key, err := requestedKey(old)
	if err != nil {
		return append(names, err)
	}
	if !key.Equal(leaf.PublicKey) {
		return append(names, field.Invalid(chain, text, "leaf certificate was not issued to the requested public key"))
	}
	if missing := validateTimesSet(&r.Status); len(names)+len(missing) > 0 {
		return append(names, missing...)
	}
	if err := (issued{r, leaf}).validateTimes(); err != nil {
		return field.ErrorList{err}
	}
	if message := checkIntermediates(blocks[1:]); message != "" {
		return field.ErrorList{field.Invalid(chain, text, message)}
	}
	return nil
}

// parseLeaf returns the first certificate, or the error text.
func parseLeaf(blocks []*pem.Block) (leaf *x509.Certificate, message string) {
	if len(blocks) == 0 {
		return nil, "issued certificate chain must contain at least one certificate"
	}
	if blocks[0].Type != certificateBlock {
		return nil, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
	}
	leaf, err := x509.ParseCertificate(blocks[0].Bytes)
	if err != nil {
		return nil, "leaf certificate does not parse as valid X.509"
	}
	return leaf, ""
}

// checkIntermediates returns an error text, or "". The spelling is kube-apiserver's.
func checkIntermediates(blocks []*pem.Block) string {
	for _, block := range blocks {
		if block.Type != certificateBlock {
			return "issued certificate chain must consist entirely of CERTFICATE PEM blocks"
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return "intermediate certificate does not parse as valid X.509"
		}
	}
	return ""
}

func validateLeafNames(leaf *x509.Certificate, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range leaf.DNSNames {
		if name == "" {
			errs = append(errs, field.Invalid(at, name, "leaf certificate should not contain empty DNSName"))
		}
		if strings.Contains(name, "..") {
			errs = append(errs, field.Invalid(at, name, "leaf certificate's DNSName should not contain '..'"))
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			errs = append(errs, field.Invalid(at, name, "leaf certificate's DNSName should not start or end with '.'"))
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			errs = append(errs, field.Invalid(at, address, "leaf certificate should not contain invalid EmailAddress"))
		}
	}
	return errs
}

// publicKey is implemented by the keys that validateKey accepts.
type publicKey interface {
	Equal(other crypto.PublicKey) bool
}

func requestedKey(r *certificatesv1.PodCertificateRequest) (publicKey, *field.Error) {
	request, err := x509.ParseCertificateRequest(r.Spec.StubPKCS10Request)
	if err == nil {
		if key, ok := request.PublicKey.(publicKey); ok {
			return key, nil
		}
	}
	return nil, field.Invalid(field.NewPath("spec", "stubPKCS10Request"), field.OmitValueType{}, "must be a valid PKCS#10 CSR")
}

func validateTimesSet(s *certificatesv1.PodCertificateRequestStatus) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("status")
	if s.NotBefore == nil {
		errs = append(errs, field.Required(at.Child("notBefore"), "must be present and consistent with the issued certificate"))
	}
	if s.NotAfter == nil {
		errs = append(errs, field.Required(at.Child("notAfter"), "must be present and consistent with the issued certificate"))
	}
	if s.BeginRefreshAt == nil {
		errs = append(errs, field.Required(at.Child("beginRefreshAt"), "must be present and in the range [notbefore+10min, notafter-10min]"))
	}
	return errs
}

// validateTimes requires the times of the leaf in the status, near the present, and a lifetime that
// was requested.
func (i issued) validateTimes() *field.Error {
	at := field.NewPath("status")
	chain, refresh := at.Child("certificateChain"), at.Child("beginRefreshAt")
	notBefore, notAfter, begin := i.Status.NotBefore.Time, i.Status.NotAfter.Time, i.Status.BeginRefreshAt.Time
	life, longest := i.leaf.NotAfter.Sub(i.leaf.NotBefore), *i.Spec.MaxExpirationSeconds
	switch {
	case !notBefore.Equal(i.leaf.NotBefore):
		return field.Invalid(at.Child("notBefore"), notBefore, "must be set to the NotBefore time encoded in the leaf certificate")
	case time.Since(notBefore).Abs() >= clockSkew:
		return field.Invalid(at.Child("notBefore"), notBefore, "must be set to within 5 minutes of kube-apiserver's current time")
	case !notAfter.Equal(i.leaf.NotAfter):
		return field.Invalid(at.Child("notAfter"), notAfter, "must be set to the NotAfter time encoded in the leaf certificate")
	case life < shortestLeaf:
		return field.Invalid(chain, life, "leaf certificate lifetime must be >= 1 hour")
	case life > time.Duration(longest)*time.Second:
		return field.Invalid(chain, life, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%v)", longest))
	case begin.Before(notBefore.Add(refreshMargin)):
		return field.Invalid(refresh, begin, "must be at least 10 minutes after status.notBefore")
	case begin.After(notAfter.Add(-refreshMargin)):
		return field.Invalid(refresh, begin, "must be at least 10 minutes before status.notAfter")
	}
	return nil
}
