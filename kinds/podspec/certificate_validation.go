package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The lifetimes of the certificates of pods, in seconds.
const (
	ShortestCertificate            = 60 * 60
	longestCertificate             = 91 * 24 * 60 * 60
	longestCertificateOfKubernetes = 24 * 60 * 60
)

// LongestCertificate returns the longest lifetime of a signer's certificates, in seconds. Signers
// of kubernetes.io have a lower limit.
func LongestCertificate(signer string) int32 {
	domain, _, _ := strings.Cut(signer, "/")
	if domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		return longestCertificateOfKubernetes
	}
	return longestCertificate
}

var keyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

func (p *projectedPaths) validateCertificate(c *corev1.PodCertificateProjection, at *field.Path) field.ErrorList {
	errs := slices.Concat(
		ValidateSignerName(c.SignerName, at.Child("signerName")),
		ValidateUserAnnotations(c.UserAnnotations, at.Child("userAnnotations")),
		validateID(c.User, utilvalidation.IsValidUserID, at, "user"),
		kind.Supported(at.Child("keyType"), c.KeyType, keyTypes...),
		validateLongestCertificate(c, at.Child("maxExpirationSeconds")),
	)
	found := false
	for _, file := range []struct{ name, path string }{
		{"credentialBundlePath", c.CredentialBundlePath},
		{"keyPath", c.KeyPath},
		{"certificateChainPath", c.CertificateChainPath},
	} {
		if file.path != "" {
			found = true
			errs = append(errs, validateFileName(file.path, at.Child(file.name))...)
			errs = append(errs, p.take(file.path, file.path)...)
		}
	}
	if !found {
		errs = append(errs, field.Required(at, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
	}
	return errs
}

func validateLongestCertificate(c *corev1.PodCertificateProjection, at *field.Path) field.ErrorList {
	longest := LongestCertificate(c.SignerName)
	switch n := c.MaxExpirationSeconds; {
	case n == nil:
		return nil
	case *n < ShortestCertificate:
		return field.ErrorList{field.Invalid(at, *n, fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", ShortestCertificate))}
	case *n > longest:
		return field.ErrorList{field.Invalid(at, *n, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", longest))}
	}
	return nil
}

// ValidateUserAnnotations requires names with a domain.
func ValidateUserAnnotations(annotations map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name := range annotations {
		errs = append(errs, utilvalidation.IsDomainPrefixedKey(at, strings.ToLower(name))...)
	}
	if validation.ValidateAnnotationsSize(annotations) != nil {
		errs = append(errs, field.TooLong(at, "", validation.TotalAnnotationSizeLimitB))
	}
	return errs
}

// ValidateSignerName requires the form domain/name.
func ValidateSignerName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	domain, path, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(path, "/") {
		return field.ErrorList{field.Invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var errs field.ErrorList
	longest := utilvalidation.DNS1123SubdomainMaxLength
	if len(domain) > longest {
		errs = append(errs, field.TooLong(at, "", longest))
	}
	errs = append(errs, validateLabels(domain, at, utilvalidation.IsDNS1123Label)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(at, domain, "should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, validateLabels(path, at, utilvalidation.IsDNS1123Subdomain)...)
	if longest += 1 + longest + 1 + utilvalidation.DNS1123LabelMaxLength; len(name) > longest {
		errs = append(errs, field.TooLong(at, "", longest))
	}
	return errs
}

// validateLabels stops at the first invalid label: the errors of others would be equal.
func validateLabels(text string, at *field.Path, form func(string) []string) field.ErrorList {
	for label := range strings.SplitSeq(text, ".") {
		if messages := form(label); len(messages) > 0 {
			for i, message := range messages {
				messages[i] = fmt.Sprintf("validating label %q: %s", label, message)
			}
			return kind.Invalid(at, text, messages)
		}
	}
	return nil
}
