package certificates

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// newAnchor returns the certificate of an authority in PEM.
func newAnchor(t *testing.T, change func(*x509.Certificate)) string {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, BasicConstraintsValid: true, IsCA: true,
		NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
	}
	if change != nil {
		change(template)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestTrustBundles(t *testing.T) {
	anchor := newAnchor(t, nil)
	newBundle := func() *certificatesv1.ClusterTrustBundle {
		return &certificatesv1.ClusterTrustBundle{
			ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: certificatesv1.ClusterTrustBundleSpec{TrustBundle: anchor},
		}
	}
	type bundle = certificatesv1.ClusterTrustBundle
	check := registrytest.Rules(t, newBundle, validateBundle)
	const at = "spec.trustBundle: Invalid value: \"<value omitted>\": "
	trust := func(text string) func(*bundle) { return func(b *bundle) { b.Spec.TrustBundle = text } }
	check("text between the anchors is ignored", trust("a\n"+anchor+"b\n"))
	check("an anchor is required", trust("text"), at+"at least one trust anchor must be provided")
	check("anchors are unique", trust(anchor+newAnchor(t, nil)+anchor), at+"duplicate trust anchor (indices [0 2])")
	check("anchors are authorities", trust(anchor+newAnchor(t, func(c *x509.Certificate) { c.IsCA = false })),
		at+"entry 1 does not have the CA bit set")
	check("blocks are certificates", trust("-----BEGIN X-----\n-----END X-----\n"), at+"entry 0 has bad block type: X")
	check("certificates parse", trust("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"), at+"entry 0 does not parse as X.509")
	check("blocks have no headers", trust(strings.Replace(anchor, "-----\n", "-----\nA: b\n\n", 1)), at+"entry 0 has PEM block headers")
	check("a bundle has at most 1 MiB", trust(strings.Repeat("a", largestBundle+1)), "spec.trustBundle: Too long: may not be more than 1048576 bytes")

	signer := func(name string) func(*bundle) {
		return func(b *bundle) { b.Name, b.Spec.SignerName = name, "example.com/s" }
	}
	check("the signer is a prefix of the name", signer("example.com:s:b"))
	check("no other name", signer("b"),
		"metadata.name: Invalid value: \"b\": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:")
	check("only names of signers have colons", func(b *bundle) { b.Name = "a:b" },
		`metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name`)

	update := func(b *bundle) []string {
		old := newBundle()
		old.Spec.TrustBundle = "invalid"
		return registrytest.Texts(validateBundleUpdate(b, old))
	}
	unchanged := newBundle()
	unchanged.Spec.TrustBundle = "invalid"
	if got := update(unchanged); len(got) > 0 {
		t.Errorf("unchanged anchors are parsed again: %q", got)
	}
	changed := newBundle()
	changed.Name, changed.Spec.SignerName = "example.com:s:b", "example.com/s"
	if diff := cmp.Diff([]string{`spec.signerName: Invalid value: "example.com/s": field is immutable`}, update(changed)); diff != "" {
		t.Errorf("a changed signer (-want +got):\n%s", diff)
	}
}

func TestTrustBundlesAreStoredAsV1beta1(t *testing.T) {
	r := clusterTrustBundles(feature.Default())
	data, err := r.Codec.Encode(&certificatesv1.ClusterTrustBundle{Spec: certificatesv1.ClusterTrustBundleSpec{TrustBundle: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "certificates.k8s.io/v1beta1") {
		t.Errorf("stored as %q", data)
	}
	newer := strings.Replace(string(data), "\x1bcertificates.k8s.io/v1beta1", "\x16certificates.k8s.io/v1", 1)
	newer = strings.Replace(newer, "k8s\x00\x0a\x31", "k8s\x00\x0a\x2c", 1)
	for _, value := range []string{string(data), newer} {
		obj, err := r.Codec.Decode([]byte(value))
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		if got := obj.(*certificatesv1.ClusterTrustBundle).Spec.TrustBundle; got != "x" {
			t.Errorf("%q is decoded as %q", value, got)
		}
	}
}

func TestTrustBundlesAreSelectedBySigner(t *testing.T) {
	env := registrytest.New(t, nil, clusterTrustBundles(feature.Default()))
	const resource = "clustertrustbundles.certificates.k8s.io"
	for name, signer := range map[string]string{"a": "", "example.com:s:b": "example.com/s"} {
		env.Create(resource, &certificatesv1.ClusterTrustBundle{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: newAnchor(t, nil)},
		})
	}
	selected, err := env.Store(resource).List(t.Context(), registry.ListRequest{
		Field: fields.OneTermEqualSelector("spec.signerName", "example.com/s"),
	})
	if err != nil || len(selected.Entries) != 1 {
		t.Errorf("%d bundles, %v", len(selected.Entries), err)
	}
	if clusterTrustBundles(feature.At(36)) != nil {
		t.Error("1.36 serves the kind")
	}
}
