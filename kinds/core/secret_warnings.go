package core

import (
	"crypto/tls"

	corev1 "k8s.io/api/core/v1"
)

// warningsForSecret returns warnings about keys that do not match their certificates.
func warningsForSecret(s *corev1.Secret) []string {
	if s.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
