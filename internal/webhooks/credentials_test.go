package webhooks

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// newCredentials loads a kubeconfig with a user for each server, whose token is its name.
func newCredentials(t *testing.T, change func(*clientcmdapi.Config), names ...string) Credentials {
	t.Helper()
	config := clientcmdapi.NewConfig()
	for _, name := range names {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: name}
	}
	if change != nil {
		change(config)
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	credentials, err := LoadCredentials(path)
	if err != nil {
		t.Fatal(err)
	}
	return credentials
}

func TestCredentialsOfServers(t *testing.T) {
	clients := NewClients(nil, nil, newCredentials(t, nil, "a.example.com", "*.example.com", "b.x.svc", "c.example.com:8443", "[::1]:443"))
	defer clients.Close()
	url := func(url string) Target { return Target{URL: &url} }
	for _, tc := range []struct {
		rule   string
		target Target
		want   string
	}{
		{"the name of the host", url("https://a.example.com/x"), "a.example.com"},
		{"a wildcard", url("https://d.example.com"), "*.example.com"},
		{"a port", url("https://c.example.com:8443"), "c.example.com:8443"},
		{"another port", url("https://a.example.com:8443"), ""},
		{"an address", url("https://[::1]/x"), "[::1]:443"},
		{"a Service", Target{Service: &Service{Namespace: "x", Name: "b", Port: 443}}, "b.x.svc"},
		{"another Service", Target{Service: &Service{Namespace: "x", Name: "c", Port: 443}}, ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			to, _, err := tc.target.endpoint()
			if err != nil {
				t.Fatal(err)
			}
			got, err := clients.credentialsFor(to)
			if err != nil || got.BearerToken != tc.want {
				t.Errorf("credentials %q, error %v, want %q", got.BearerToken, err, tc.want)
			}
		})
	}
}

func TestClientCertificateOfCredentials(t *testing.T) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("client", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	credentials := newCredentials(t, func(c *clientcmdapi.Config) {
		c.AuthInfos["*"] = &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	})
	config, err := credentials.ClientConfigFor("a:443")
	if err != nil {
		t.Fatal(err)
	}
	transport := &tls.Config{}
	if _, err := authenticate(config, transport, http.DefaultTransport); err != nil {
		t.Fatal(err)
	}
	sent, err := transport.GetClientCertificate(&tls.CertificateRequestInfo{})
	if err != nil || len(sent.Certificate) == 0 {
		t.Errorf("certificate %v, error %v", sent, err)
	}
}
