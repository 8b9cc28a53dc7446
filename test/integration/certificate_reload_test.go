package integration_test

import (
	"crypto/tls"
	"net/http"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/servertest"
)

func newAuthority(t *testing.T, name string) *certs.Authority {
	t.Helper()
	authority, err := certs.NewAuthority(name)
	check(t, err)
	return authority
}

// servedSerial returns the serial number of the certificate that a server presents now.
func servedSerial(t *testing.T, server *miniapi.Server) string {
	t.Helper()
	conn, err := tls.Dial("tcp", server.URL()[len("https://"):], &tls.Config{InsecureSkipVerify: true})
	check(t, err)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// The serving certificate, the CAs of clients and the CAs of front proxies are read again when
// their files change.
func TestCertificateFilesAreReloaded(t *testing.T) {
	dir := t.TempDir()
	oldCA, newCA := newAuthority(t, "old-ca"), newAuthority(t, "new-ca")
	writeServing := func(authority *certs.Authority) {
		pair, err := authority.IssueServing("127.0.0.1")
		check(t, err)
		write(t, dir, "serving.key", string(pair.Key))
		write(t, dir, "serving.crt", string(pair.Certificate))
	}
	writeServing(oldCA)
	clientCA := write(t, dir, "clients.crt", string(oldCA.CertificatePEM()))
	proxyCA := write(t, dir, "proxies.crt", string(oldCA.CertificatePEM()))
	server := secureServer(t, func(c *miniapi.Config) {
		c.Secure = &miniapi.Secure{
			CertFile: dir + "/serving.crt", KeyFile: dir + "/serving.key", ClientCAFile: clientCA,
			RequestHeaders: miniapi.RequestHeaders{ClientCAFile: proxyCA, UsernameHeaders: []string{"X-Remote-User"}},
		}
	})
	first := servedSerial(t, server)
	expectUsers := func(authority *certs.Authority, accepted bool) {
		t.Helper()
		await(t, func() bool {
			return (identify(t, server, authority, "") == "ann") == accepted && (identify(t, server, authority, "bob") == "bob") == accepted
		})
	}
	expectUsers(oldCA, true)
	expectUsers(newCA, false)

	writeServing(newCA)
	write(t, dir, "clients.crt", string(newCA.CertificatePEM()))
	write(t, dir, "proxies.crt", string(newCA.CertificatePEM()))
	await(t, func() bool { return servedSerial(t, server) != first })
	expectUsers(newCA, true)
	expectUsers(oldCA, false)
	if user := whoAmI(t, servertest.Client(t, server.RESTConfig())); user.Username != "system:admin" {
		t.Errorf("the new configuration of clients has the user %v", user)
	}
}

// identify returns the user that a server recognizes by a client certificate, or by the header of a
// front proxy with such a certificate, "" if it refuses the request.
func identify(t *testing.T, server *miniapi.Server, authority *certs.Authority, proxied string) string {
	t.Helper()
	pair, err := authority.IssueClient("ann")
	check(t, err)
	config := rest.AnonymousClientConfig(server.RESTConfig())
	config.CertData, config.KeyData = pair.Certificate, pair.Key
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			if proxied != "" {
				r.Header.Set("X-Remote-User", proxied)
			}
			return next.RoundTrip(r)
		})
	})
	httpClient, err := rest.HTTPClientFor(config)
	check(t, err)
	defer httpClient.CloseIdleConnections()
	client, err := kubernetes.NewForConfigAndClient(config, httpClient)
	check(t, err)
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return ""
	}
	return review.Status.UserInfo.Username
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
