package certificates

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

const (
	largestStubRequest = 10 << 10 // bytes
	longestUID         = 128
)

// validatePodRequest validates the spec of a new request. The spec is immutable.
func validatePodRequest(r *certificatesv1.PodCertificateRequest) field.ErrorList {
	s, at := &r.Spec, field.NewPath("spec")
	errs := slices.Concat(
		podspec.ValidateSignerName(s.SignerName, at.Child("signerName")),
		podspec.ValidateUserAnnotations(s.UnverifiedUserAnnotations, at.Child("unverifiedUserAnnotations")),
		kind.Invalid(at.Child("podName"), s.PodName, validation.NameIsDNSSubdomain(s.PodName, false)),
		validateUID(string(s.PodUID), at.Child("podUID")),
		kind.Invalid(at.Child("serviceAccountName"), s.ServiceAccountName, validation.ValidateServiceAccountName(s.ServiceAccountName, false)),
		validateUID(string(s.ServiceAccountUID), at.Child("serviceAccountUID")),
		kind.Invalid(at.Child("nodeName"), s.NodeName, validation.NameIsDNSSubdomain(string(s.NodeName), false)),
		validateUID(string(s.NodeUID), at.Child("nodeUID")),
	)
	if s.MaxExpirationSeconds == nil {
		return append(errs, field.Required(at.Child("maxExpirationSeconds"), "must be set"))
	}
	errs = append(errs, validateLife(*s.MaxExpirationSeconds, s.SignerName, at.Child("maxExpirationSeconds"))...)
	if len(s.StubPKCS10Request) == 0 { // the older fields of the second choice are not served
		return append(errs, field.Invalid(at, field.OmitValueType{},
			"exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"))
	}
	return append(errs, validateStubRequest(s.StubPKCS10Request, at.Child("stubPKCS10Request"))...)
}

func validatePodRequestUpdate(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	if equality.Semantic.DeepEqual(r.Spec, old.Spec) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec"), internalSpecOf(&r.Spec), validation.FieldImmutableErrorMsg)}
}

// internalSpec has the fields of kube-apiserver's internal type, for error messages. Those of
// v1beta1 are unset.
type internalSpec struct {
	SignerName, PodName              string
	PodUID                           types.UID
	ServiceAccountName               string
	ServiceAccountUID                types.UID
	NodeName                         types.NodeName
	NodeUID                          types.UID
	MaxExpirationSeconds             *int32
	PKIXPublicKey, ProofOfPossession []byte
	StubPKCS10Request                []byte
	UnverifiedUserAnnotations        map[string]string
}

func internalSpecOf(s *certificatesv1.PodCertificateRequestSpec) internalSpec {
	return internalSpec{
		SignerName: s.SignerName, PodName: s.PodName, PodUID: s.PodUID,
		ServiceAccountName: s.ServiceAccountName, ServiceAccountUID: s.ServiceAccountUID,
		NodeName: s.NodeName, NodeUID: s.NodeUID, MaxExpirationSeconds: s.MaxExpirationSeconds,
		StubPKCS10Request: s.StubPKCS10Request, UnverifiedUserAnnotations: s.UnverifiedUserAnnotations,
	}
}

func validateUID(uid string, at *field.Path) field.ErrorList {
	switch {
	case uid == "":
		return field.ErrorList{field.Invalid(at, uid, "must not be empty")}
	case len(uid) > longestUID:
		return field.ErrorList{field.TooLong(at, uid, longestUID)}
	}
	return nil
}

func validateLife(seconds int32, signer string, at *field.Path) field.ErrorList {
	longest := podspec.LongestCertificate(signer)
	if seconds >= podspec.ShortestCertificate && seconds <= longest {
		return nil
	}
	return field.ErrorList{field.Invalid(at, seconds, fmt.Sprintf("must be in the range [%d, %d]", podspec.ShortestCertificate, longest))}
}

// validateStubRequest requires a PKCS#10 request that is signed with its own key, of a strong type.
// It ignores the content of the request.
func validateStubRequest(der []byte, at *field.Path) field.ErrorList {
	if len(der) > largestStubRequest {
		return field.ErrorList{field.TooLong(at, der, largestStubRequest)}
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "must be a valid PKCS#10 CSR")}
	}
	if err := validateKey(request.PublicKey, at); err != nil {
		return field.ErrorList{err}
	}
	if request.CheckSignature() != nil {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "invalid signature")}
	}
	return nil
}

func validateKey(key any, at *field.Path) *field.Error {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return nil
	case *ecdsa.PublicKey:
		if !slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, key.Curve) {
			return field.Invalid(at, "curve "+key.Curve.Params().Name, "elliptic public keys must use curve P256, P384, or P521")
		}
		return nil
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			return field.Invalid(at, fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096")
		}
		return nil
	}
	return field.Invalid(at, field.OmitValueType{}, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")
}
