package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

const largestBundle = 1 << 20 // bytes

func validateBundle(bundle *certificatesv1.ClusterTrustBundle) field.ErrorList {
	return append(validateBundleMeta(bundle), validateAnchors(bundle.Spec.TrustBundle, field.NewPath("spec", "trustBundle"))...)
}

// validateBundleUpdate accepts unchanged trust anchors without parsing them.
func validateBundleUpdate(bundle, old *certificatesv1.ClusterTrustBundle) field.ErrorList {
	errs := validateBundleMeta(bundle)
	if bundle.Spec.TrustBundle != old.Spec.TrustBundle {
		errs = append(errs, validateAnchors(bundle.Spec.TrustBundle, field.NewPath("spec", "trustBundle"))...)
	}
	return append(errs, kind.Immutable(field.NewPath("spec", "signerName"), bundle.Spec.SignerName, old.Spec.SignerName)...)
}

func validateBundleMeta(bundle *certificatesv1.ClusterTrustBundle) field.ErrorList {
	var errs field.ErrorList
	signer, meta := bundle.Spec.SignerName, field.NewPath("metadata")
	if name := bundle.GenerateName; name != "" {
		errs = kind.Invalid(meta.Child("generateName"), name, checkBundleName(name, signer, true))
	}
	if bundle.Name != "" {
		errs = append(errs, kind.Invalid(meta.Child("name"), bundle.Name, checkBundleName(bundle.Name, signer, false))...)
	}
	if signer != "" {
		errs = append(errs, podspec.ValidateSignerName(signer, field.NewPath("spec", "signerName"))...)
	}
	return errs
}

// checkBundleName requires the signer as a prefix of the name, with colons, and no colon in the
// names of bundles without a signer.
func checkBundleName(name, signer string, isPrefix bool) []string {
	if signer == "" {
		if strings.Contains(name, ":") {
			return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
		}
		return validation.NameIsDNSSubdomain(name, isPrefix)
	}
	prefix := strings.ReplaceAll(signer, "/", ":") + ":"
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, prefix)}
	}
	return validation.NameIsDNSSubdomain(rest, isPrefix)
}

// validateAnchors requires one or more different certificates of authorities in PEM blocks without
// headers. Text between the blocks is ignored.
func validateAnchors(text string, at *field.Path) field.ErrorList {
	if len(text) > largestBundle {
		return field.ErrorList{field.TooLong(at, "", largestBundle)}
	}
	var messages []string
	indexes := map[string][]int{}
	var order []string
	for i, block := range pemBlocks(text) {
		if message := checkAnchor(block); message != "" {
			messages = append(messages, fmt.Sprintf("entry %d %s", i, message))
			continue
		}
		data := string(block.Bytes)
		if indexes[data] == nil {
			order = append(order, data)
		}
		indexes[data] = append(indexes[data], i)
	}
	if len(messages) == 0 && len(order) == 0 {
		messages = []string{"at least one trust anchor must be provided"}
	} else if len(messages) == 0 {
		for _, data := range slices.DeleteFunc(order, func(data string) bool { return len(indexes[data]) == 1 }) {
			messages = append(messages, fmt.Sprintf("duplicate trust anchor (indices %v)", indexes[data]))
		}
	}
	return kind.Invalid(at, "<value omitted>", messages)
}

// checkAnchor returns the error of a block, or "".
func checkAnchor(block *pem.Block) string {
	if block.Type != certificateBlock {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) > 0 {
		return "has PEM block headers"
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "does not parse as X.509"
	case !certificate.IsCA:
		return "does not have the CA bit set"
	case !certificate.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}

// certificateBlock is the type of PEM blocks that contain certificates.
const certificateBlock = "CERTIFICATE"

func pemBlocks(text string) []*pem.Block {
	var blocks []*pem.Block
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		blocks = append(blocks, block)
	}
	return blocks
}
