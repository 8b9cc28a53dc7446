package miniapi

import (
	"crypto/x509"
	"encoding/pem"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the name of cluster, user and context in a kubeconfig.
const contextName = "miniapi"

// RESTConfig returns a config for client-go and what is built on it: that of an
// administrator. Its rate limit is off: a test talks to a server of its own.
func (s *Server) RESTConfig() *rest.Config {
	config := s.baseConfig()
	if s.secure != nil {
		config.BearerToken = s.secure.adminToken
	}
	return config
}

// AddUser returns a config for client-go that acts as another user, who is in
// the groups and in system:authenticated. With Config.Secure it has a client
// certificate; over plain HTTP, where everybody is the administrator, it
// impersonates the user.
func (s *Server) AddUser(name string, groups ...string) (*rest.Config, error) {
	config := s.baseConfig()
	if s.secure == nil {
		config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
		return config, nil
	}
	pair, err := s.secure.authority.IssueClient(name, groups...)
	if err != nil {
		return nil, err
	}
	config.CertData, config.KeyData = pair.Certificate, pair.Key
	return config, nil
}

// baseConfig reaches the server and says nothing of the user.
func (s *Server) baseConfig() *rest.Config {
	config := &rest.Config{Host: s.URL(), QPS: -1}
	if s.secure != nil {
		config.CAData = s.secure.serving.Certificate
		config.ServerName = s.serverName()
	}
	return config
}

// serverName is what clients check the certificate for where it does not name
// the host of URL: a name that it does have.
func (s *Server) serverName() string {
	block, _ := pem.Decode(s.secure.serving.Certificate)
	if block == nil {
		return ""
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	at, err := url.Parse(s.URL())
	if err != nil || certificate.VerifyHostname(at.Hostname()) == nil {
		return ""
	}
	if len(certificate.DNSNames) > 0 {
		return certificate.DNSNames[0]
	}
	return certificate.Subject.CommonName
}

// Kubeconfig returns the kubeconfig, in YAML, of an administrator.
func (s *Server) Kubeconfig() ([]byte, error) {
	admin := s.RESTConfig()
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{
		Server:                   admin.Host,
		CertificateAuthorityData: admin.CAData,
		TLSServerName:            admin.ServerName,
	}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{Token: admin.BearerToken}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	return clientcmd.Write(*config)
}
