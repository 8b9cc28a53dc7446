package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

const (
	shortestLife = 600 // seconds
	// legacySigner is the default signer of v1beta1.
	legacySigner = "kubernetes.io/legacy-unknown"
)

var usages = []certificatesv1.KeyUsage{
	certificatesv1.UsageAny, certificatesv1.UsageCertSign, certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning,
	certificatesv1.UsageContentCommitment, certificatesv1.UsageCRLSign, certificatesv1.UsageDataEncipherment,
	certificatesv1.UsageDecipherOnly, certificatesv1.UsageDigitalSignature, certificatesv1.UsageEmailProtection,
	certificatesv1.UsageEncipherOnly, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel,
	certificatesv1.UsageIPsecUser, certificatesv1.UsageKeyAgreement, certificatesv1.UsageKeyEncipherment,
	certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC, certificatesv1.UsageOCSPSigning,
	certificatesv1.UsageSMIME, certificatesv1.UsageServerAuth, certificatesv1.UsageSigning, certificatesv1.UsageTimestamping,
}

// validateRequest validates the spec of a new request. The spec is immutable.
func validateRequest(csr *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if err := checkRequest(csr.Spec.Request); err != nil {
		errs = append(errs, field.Invalid(spec.Child("request"), csr.Spec.Request, err.Error()))
	}
	errs = append(errs, validateUsages(csr.Spec.Usages, spec.Child("usages"))...)
	if csr.Spec.SignerName == legacySigner {
		errs = append(errs, field.Invalid(spec.Child("signerName"), csr.Spec.SignerName, "the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, podspec.ValidateSignerName(csr.Spec.SignerName, spec.Child("signerName"))...)
	}
	if n := csr.Spec.ExpirationSeconds; n != nil && *n < shortestLife {
		errs = append(errs, field.Invalid(spec.Child("expirationSeconds"), *n, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	return errs
}

// checkRequest requires a certificate request that is signed with its own key.
func checkRequest(data []byte) error {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

func validateUsages(list []certificatesv1.KeyUsage, at *field.Path) field.ErrorList {
	if len(list) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	sorted := slices.Sorted(slices.Values(usages))
	seen := sets.New[certificatesv1.KeyUsage]()
	for i, usage := range list {
		errs = append(errs, kind.Supported(at.Index(i), usage, sorted...)...)
		if seen.Has(usage) {
			errs = append(errs, field.Duplicate(at.Index(i), usage))
		}
		seen.Insert(usage)
	}
	return errs
}

// validateCertificate requires PEM blocks of certificates only.
func validateCertificate(data []byte) field.ErrorList {
	if len(data) == 0 {
		return nil
	}
	if err := checkCertificates(data); err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("status", "certificate"), "<certificate data>", err.Error())}
	}
	return nil
}

func checkCertificates(data []byte) error {
	found := false
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		found = true
		if block.Type != certificateBlock {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) > 0 {
			return errors.New("no PEM block headers are permitted")
		}
		list, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
	}
	if !found {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}
