package webhooks

import (
	"crypto/tls"
	"net"
	"net/http"

	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// Credentials returns the credentials for a URL or a Service.
type Credentials = webhookutil.AuthenticationInfoResolver

// LoadCredentials returns the credentials of a kubeconfig. As in kube-apiserver, the names of its
// users select the servers: host:port, a name that begins with "*." or "*".
func LoadCredentials(kubeconfig string) (Credentials, error) {
	return webhookutil.NewDefaultAuthenticationInfoResolver(kubeconfig)
}

// credentialsFor returns the credentials for an endpoint, nil if there are none.
func (c *Clients) credentialsFor(to endpoint) (*rest.Config, error) {
	switch {
	case c.credentials == nil:
		return nil, nil
	case to.service != (Service{}):
		return c.credentials.ClientConfigForService(to.service.Name, to.service.Namespace, int(to.service.Port))
	}
	host := to.host
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(to.name, "443")
	}
	return c.credentials.ClientConfigFor(host)
}

// authenticate adds the client certificate of credentials to a transport, and returns a
// RoundTripper that adds the rest of them to requests.
func authenticate(credentials *rest.Config, transport *tls.Config, next http.RoundTripper) (http.RoundTripper, error) {
	own, err := rest.TLSConfigFor(credentials)
	if err != nil {
		return nil, err
	}
	if own != nil {
		transport.Certificates, transport.GetClientCertificate = own.Certificates, own.GetClientCertificate
	}
	return rest.HTTPWrappersForConfig(credentials, next)
}
