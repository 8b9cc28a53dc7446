package aggregator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/registry"
)

// newTransport returns the transport to the server of an APIService. It uses HTTP/1.1 only, because
// upgraded connections need it.
func newTransport(service *apiregistrationv1.APIService, from Config) (*http.Transport, error) {
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
	if from.Certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return from.Certificate() }
	}
	return &http.Transport{DialContext: from.Outgoing.DialContext, TLSClientConfig: config, MaxIdleConnsPerHost: 25}, nil
}

// ServeHTTP proxies a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address, problem := s.resolve(r.Context())
	switch {
	case problem != nil && deadlineExceeded(r):
		return
	case !s.available.Load() || problem != nil:
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	case s.transportErr != nil:
		http.Error(w, s.transportErr.Error(), http.StatusInternalServerError)
		return
	}
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "https", address, address
			p.SetXForwarded()
			p.Out.Header.Set("Audit-Id", w.Header().Get("Audit-Id"))
			setUserHeaders(p.Out, registry.UserFrom(r.Context()))
		},
		Transport:      s.transport,
		FlushInterval:  -1, // the events of a watch are not delayed
		ErrorLog:       slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),
		ModifyResponse: refuse,
		ErrorHandler:   answerError,
	}
	proxy.ServeHTTP(w, r)
}

// RoundTrip implements http.RoundTripper for requests of this server. It does not follow redirects.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	address, problem := s.resolve(r.Context())
	switch {
	case problem != nil:
		return nil, errors.New(problem.Message)
	case s.transportErr != nil:
		return nil, s.transportErr
	case !s.available.Load():
		return nil, fmt.Errorf("APIService %s is not available", s.service.Name)
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = "https", address
	setUserHeaders(out, registry.UserFrom(r.Context()))
	return s.transport.RoundTrip(out)
}

// refusedAnswer is the error for an answer of another server that the proxy does not forward.
type refusedAnswer string

func (text refusedAnswer) Error() string { return string(text) }

// redirected answers a redirect of another server. All error texts of this file are copied from
// kube-apiserver.
const redirected refusedAnswer = "the backend attempted to redirect this request, which is not permitted"

// refuse returns an error for an answer that is not forwarded: a redirect, which would send the
// client and its credentials to another address, an answer to an upgrade request that does not
// upgrade, and an answer after the deadline of the request. A server may send the last one because
// the proxy closes the connection.
func refuse(answer *http.Response) error {
	if deadlineExceeded(answer.Request) {
		return context.DeadlineExceeded
	}
	if isUpgrade(answer.Request) && answer.StatusCode != http.StatusSwitchingProtocols && answer.StatusCode < http.StatusBadRequest {
		return refusedAnswer(fmt.Sprintf("invalid upgrade response: status code %d", answer.StatusCode))
	}
	if answer.StatusCode >= 300 && answer.StatusCode <= 399 && answer.Header.Get("Location") != "" {
		return redirected
	}
	return nil
}

func isUpgrade(r *http.Request) bool {
	return slices.ContainsFunc(r.Header["Connection"], func(value string) bool {
		return strings.Contains(strings.ToLower(value), "upgrade")
	})
}

// answerError answers a request that the other server has not answered, unless its deadline has
// passed: see Remote of api.Config.
func answerError(w http.ResponseWriter, r *http.Request, err error) {
	var refused refusedAnswer
	switch {
	case deadlineExceeded(r):
	case err == redirected:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, err.Error())
	case errors.As(err, &refused):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case isUpgrade(r):
		http.Error(w, fmt.Sprintf("error dialing backend: %v", err), http.StatusServiceUnavailable)
	default:
		http.Error(w, fmt.Sprintf("error trying to reach service: %v", err), http.StatusServiceUnavailable)
	}
}

// deadlineExceeded reports whether the deadline of a request has passed.
func deadlineExceeded(r *http.Request) bool {
	return errors.Is(context.Cause(r.Context()), context.DeadlineExceeded)
}

// setUserHeaders replaces the credentials of a request by headers with the user.
func setUserHeaders(r *http.Request, user *authenticationv1.UserInfo) {
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
