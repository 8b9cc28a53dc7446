package miniapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/netip"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/auth/authn"
	"github.com/miniapi/miniapi/auth/authz"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/registry"
)

// identity holds the keys, certificates and credentials of a server.
type identity struct {
	credentials *authn.Credentials
	frontProxy  *certs.FrontProxy
	*serving    // nil without Config.Secure
}

// serving is the part of an identity for HTTPS.
type serving struct {
	authority   *certs.Authority // signs the certificates of AddUser
	certificate *certs.Reloaded[*certs.Serving]
	issued      bool // by the authority
	tls         *tls.Config
}

// newIdentity loads or creates keys and certificates. store finds the stores of service accounts,
// clock is the time of their tokens.
func newIdentity(config Config, serviceIP netip.Addr, store func(schema.GroupResource) (*registry.Store, bool), clock *apitime.Clock) (*identity, error) {
	dir := config.certDir()
	secure := cmp.Or(config.Secure, Secure{}.withDefaults())
	id := &identity{frontProxy: certs.NewFrontProxy(certs.FrontProxyConfig{
		CertFile: secure.ProxyClientCertFile, KeyFile: secure.ProxyClientKeyFile,
		CAFile: secure.RequestHeaders.ClientCAFile, Dir: dir, Logger: config.logger("certificates"),
	})}
	policy, err := config.outgoing()
	if err != nil {
		return nil, err
	}
	credentials := authn.Config{
		Outgoing:       policy,
		ClientCAFile:   secure.ClientCAFile,
		TokenAuthFile:  secure.TokenAuthFile,
		RequestHeaders: secure.RequestHeaders,
		OIDC:           secure.issuers(),
		TokenWebhook:   secure.TokenWebhook,
		AllowAnonymous: !secure.RejectAnonymous && !config.authorization().Has(authz.ModeAlwaysAllow),
		Dir:            dir,
		SigningKeyFile: secure.ServiceAccountSigningKeyFile,
		KeyFiles:       secure.ServiceAccountKeyFiles,
		ServiceAccounts: authn.ServiceAccountConfig{
			Issuers:    secure.ServiceAccountIssuers,
			Store:      store,
			Now:        clock.Now,
			SkipLookup: secure.SkipServiceAccountLookup,
			Logger:     config.logger("authentication"),
		},
	}
	if config.Secure != nil {
		if id.serving, err = newServing(config, dir, serviceIP); err != nil {
			return nil, err
		}
		credentials.Authority = id.authority
	}
	id.credentials, err = authn.NewCredentials(credentials)
	return id, err
}

func newServing(config Config, dir certs.Directory, serviceIP netip.Addr) (*serving, error) {
	secure := config.Secure
	authority, err := dir.Authority("ca", "miniapi")
	if err != nil {
		return nil, err
	}
	certificate, err := authority.Serving(certs.ServingConfig{
		CertFile: secure.CertFile, KeyFile: secure.KeyFile, Dir: dir,
		Listen: secure.Listen, ServiceIP: serviceIP, Logger: config.logger("certificates"),
	})
	if err != nil {
		return nil, err
	}
	return &serving{authority, certificate, secure.CertFile == "", certs.ServerConfig(certificate)}, nil
}

// servingCA returns the CA of the serving certificate in PEM, nil without HTTPS. A configured
// certificate is its own CA: clients verify it by its chain.
func (id *identity) servingCA() []byte {
	switch {
	case id.serving == nil:
		return nil
	case id.issued:
		return id.authority.CertificatePEM()
	default:
		return id.certificate.Get().Certificate
	}
}

// certDir returns the directory of keys and certificates, "" if they are kept in memory.
func (c Config) certDir() certs.Directory {
	switch {
	case c.Secure != nil && c.Secure.CertDir != "":
		return certs.Directory(c.Secure.CertDir)
	case c.DataDir != "":
		return certs.Directory(filepath.Join(c.DataDir, "pki"))
	default:
		return ""
	}
}

// publishAuthentication adds the CAs of this server to the stored ones. New data has them from the
// start. Errors are logged, because only aggregated API servers and components of a control plane
// use the CAs.
func (s *Server) publishAuthentication(ctx context.Context) error {
	persistent := s.config.DataDir != "" || s.shared()
	configMaps, served := s.store(corev1.Resource("configmaps"))
	if s.identity.serving == nil || !persistent || !served || s.config.readOnly() {
		return nil
	}
	info, err := s.authentication()
	if err == nil {
		err = bootstrap.UpdateAuthentication(ctx, configMaps, *info)
	}
	if err != nil && ctx.Err() == nil {
		s.config.Logger.ErrorContext(ctx, "the CAs of this server are not published", "error", err)
	}
	return nil
}

// authentication returns the CAs of this server, nil without HTTPS. Without RequestHeaders, its
// own front proxy is the only one that aggregated API servers can trust.
func (s *Server) authentication() (*bootstrap.Authentication, error) {
	if s.identity.serving == nil {
		return nil, nil
	}
	headers := s.config.Secure.RequestHeaders
	info := &bootstrap.Authentication{
		ClientCA:            s.identity.credentials.ClientCA(),
		AllowedNames:        headers.AllowedNames,
		UsernameHeaders:     headers.UsernameHeaders,
		UIDHeaders:          headers.UIDHeaders,
		GroupHeaders:        headers.GroupHeaders,
		ExtraHeaderPrefixes: headers.ExtraHeaderPrefixes,
	}
	if headers.ClientCAFile == "" {
		name, err := s.identity.frontProxy.Name()
		if err != nil {
			return nil, err
		}
		info.AllowedNames = []string{name}
		info.UsernameHeaders, info.UIDHeaders = []string{"X-Remote-User"}, []string{"X-Remote-Uid"}
		info.GroupHeaders, info.ExtraHeaderPrefixes = []string{"X-Remote-Group"}, []string{"X-Remote-Extra-"}
	}
	var err error
	info.RequestHeaderCA, err = s.identity.frontProxy.CA()
	return info, err
}
