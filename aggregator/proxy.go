package aggregator

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/registry"
)

// newTransport returns what reaches the server of an APIService. It speaks
// HTTP/1.1 only: streams that are opened by an upgrade need that.
func newTransport(service *apiregistrationv1.APIService, certificate func() (*tls.Certificate, error)) (*http.Transport, error) {
	config := &tls.Config{
		ServerName:         service.Spec.Service.Name + "." + service.Spec.Service.Namespace + ".svc",
		InsecureSkipVerify: service.Spec.InsecureSkipTLSVerify,
		MinVersion:         tls.VersionTLS12,
	}
	if bundle := service.Spec.CABundle; len(bundle) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	if certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate() }
	}
	return &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 25}, nil
}

// ServeHTTP passes a request on.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address, fault := s.resolve(r.Context())
	switch {
	case !s.available.Load() || fault != nil:
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	case s.unusable != nil:
		http.Error(w, s.unusable.Error(), http.StatusInternalServerError)
		return
	}
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "https", address, address
			p.SetXForwarded()
			p.Out.Header.Set("Audit-Id", w.Header().Get("Audit-Id"))
			introduce(p.Out, registry.UserFrom(r.Context()))
		},
		Transport:     s.transport,
		FlushInterval: -1, // a watch is read as it comes
		ErrorLog:      slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
	}
	proxy.ServeHTTP(w, r)
}

// introduce says who makes a request, in the place of what the user proved that
// with.
func introduce(r *http.Request, user *authenticationv1.UserInfo) {
	r.Header.Del("Authorization")
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			r.Header.Del(name)
		}
	}
	if user == nil {
		user = &authenticationv1.UserInfo{}
	}
	extra := make(map[string][]string, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = values
	}
	transport.SetAuthProxyHeaders(r, user.Username, user.UID, user.Groups, extra)
}
