package miniapi

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/healthz"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/storage/encryption"
)

// encryption returns the configuration of encryption at rest, nil for none.
func (s *Server) encryption() *encryption.Config {
	if s.config.EncryptionProviderConfig == "" {
		return nil
	}
	config := s.config.encryption()
	config.Resources = map[string]schema.GroupResource{}
	for _, resource := range kinds.Resources(s.features) {
		if _, known := config.Resources[resource.StoragePath]; !known && resource.StoragePath != "" {
			config.Resources[resource.StoragePath] = resource.GroupResource()
		}
	}
	return &config
}

func (c Config) encryption() encryption.Config {
	return encryption.Config{File: c.EncryptionProviderConfig, AutomaticReload: c.EncryptionProviderConfigAutomaticReload}
}

func (c Config) validateEncryption() error {
	if c.EncryptionProviderConfig == "" && !c.EncryptionProviderConfigAutomaticReload {
		return nil
	}
	return c.encryption().Validate()
}

// kmsChecks returns the health check of the KMS plugins, which has the name of kube-apiserver.
func (s *Server) kmsChecks() []healthz.Check {
	encryption := s.datastore.Encryption()
	if encryption == nil || !encryption.HasHealthCheck() {
		return nil
	}
	return []healthz.Check{{Name: "kms-providers", Check: encryption.Check}}
}
