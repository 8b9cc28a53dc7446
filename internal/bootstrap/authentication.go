package bootstrap

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// AuthenticationConfigMap is the name of the ConfigMap in kube-system with which aggregated API
// servers, kube-controller-manager and kube-scheduler authenticate their own clients.
const AuthenticationConfigMap = "extension-apiserver-authentication"

// Authentication is the content of AuthenticationConfigMap.
type Authentication struct {
	// ClientCA and RequestHeaderCA have, in PEM, the CAs of client certificates and of front
	// proxies.
	ClientCA, RequestHeaderCA []byte
	// AllowedNames are the common names of front proxies; empty: any.
	AllowedNames []string
	// The headers in which a front proxy sends the user.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}

// configMap returns the ConfigMap of a new cluster.
func (a Authentication) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: AuthenticationConfigMap},
		Data:       a.addTo(nil),
	}
}

// UpdateAuthentication adds the content to the stored AuthenticationConfigMap. As in
// kube-apiserver, the stored content remains, because other servers of the same cluster may have
// CAs of their own. Expired certificates are removed.
func UpdateAuthentication(ctx context.Context, configMaps *registry.Store, info Authentication) error {
	_, err := configMaps.Update(ctx, registry.UpdateRequest{
		Namespace: metav1.NamespaceSystem, Name: AuthenticationConfigMap,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject().(*corev1.ConfigMap)
			next.Data = info.addTo(next.Data)
			return next, nil
		},
	})
	if err != nil {
		return fmt.Errorf("update ConfigMap %s/%s: %w", metav1.NamespaceSystem, AuthenticationConfigMap, err)
	}
	return nil
}

// addTo returns the data with the content added.
func (a Authentication) addTo(stored map[string]string) map[string]string {
	data := map[string]string{"client-ca-file": mergeCertificates(stored["client-ca-file"], a.ClientCA)}
	proxies := mergeCertificates(stored["requestheader-client-ca-file"], a.RequestHeaderCA)
	if proxies == "" {
		return data
	}
	data["requestheader-client-ca-file"] = proxies
	for key, values := range map[string][]string{
		"requestheader-allowed-names":        a.AllowedNames,
		"requestheader-username-headers":     a.UsernameHeaders,
		"requestheader-uid-headers":          a.UIDHeaders,
		"requestheader-group-headers":        a.GroupHeaders,
		"requestheader-extra-headers-prefix": a.ExtraHeaderPrefixes,
	} {
		data[key] = mergeList(stored[key], values)
	}
	return data
}

// mergeList adds values to a JSON array of strings. An invalid array is replaced.
func mergeList(stored string, values []string) string {
	merged := []string{}
	if json.Unmarshal([]byte(stored), &merged) != nil {
		merged = []string{}
	}
	for _, value := range values {
		if !slices.Contains(merged, value) {
			merged = append(merged, value)
		}
	}
	encoded, _ := json.Marshal(merged) // strings can always be encoded
	return string(encoded)
}

// mergeCertificates returns the valid certificates of two PEM bundles, each once.
func mergeCertificates(stored string, added []byte) string {
	var merged [][]byte
	both := slices.Concat([]byte(stored), []byte("\n"), added)
	for block, rest := pem.Decode(both); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil || time.Now().After(certificate.NotAfter) {
			continue
		}
		encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
		if !slices.ContainsFunc(merged, func(other []byte) bool { return bytes.Equal(other, encoded) }) {
			merged = append(merged, encoded)
		}
	}
	return string(bytes.Join(merged, nil))
}
