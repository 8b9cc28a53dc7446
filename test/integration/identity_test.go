package integration_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/servertest"
)

// newToken returns a token of a new service account default/bot.
func newToken(t *testing.T, admin *kubernetes.Clientset) string {
	t.Helper()
	accounts := admin.CoreV1().ServiceAccounts("default")
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot"}}, metav1.CreateOptions{})
	check(t, err)
	request, err := accounts.CreateToken(t.Context(), "bot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	check(t, err)
	return request.Status.Token
}

func withToken(config *rest.Config, token string) *rest.Config {
	config = rest.AnonymousClientConfig(config)
	config.BearerToken = token
	return config
}

// Credentials that a server issued stay valid when it starts again with the same directory.
func TestCredentialsSurviveARestart(t *testing.T) {
	for name, configure := range map[string]func(config *miniapi.Config, dir string){
		"in the data directory":        func(c *miniapi.Config, dir string) {},
		"in the certificate directory": func(c *miniapi.Config, dir string) { c.Secure.CertDir = filepath.Join(dir, "certs") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config := miniapi.Config{Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC, DataDir: filepath.Join(dir, "data")}
			configure(&config, dir)
			first, err := miniapi.Start(t.Context(), config)
			check(t, err)
			admin := first.RESTConfig()
			token := withToken(admin, newToken(t, servertest.Client(t, admin)))
			jane, err := first.AddUser("jane", "devs")
			check(t, err)
			frontProxy, err := first.FrontProxyCA()
			check(t, err)
			check(t, servertest.Stop(first))

			second := servertest.Start(t, config)
			for user, config := range map[string]*rest.Config{
				"system:admin": admin, "jane": jane, "system:serviceaccount:default:bot": token,
			} {
				config.Host = second.URL()
				if got := whoAmI(t, servertest.Client(t, config)); got.Username != user {
					t.Errorf("%s is %v after the restart", user, got)
				}
			}
			if again, err := second.FrontProxyCA(); err != nil || string(again) != string(frontProxy) {
				t.Errorf("another CA of the front proxy, %v", err)
			}
		})
	}
}

func TestServiceAccountTokensOverPlainHTTP(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Authorization: miniapi.RBAC})
	config := server.RESTConfig()
	admin := servertest.Client(t, config)
	bot := servertest.Client(t, withToken(config, newToken(t, admin)))
	if user := whoAmI(t, bot); user.Username != "system:serviceaccount:default:bot" {
		t.Errorf("the token is of %v", user)
	}
	if _, err := bot.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("list without a role: %v", err)
	}
	unknown := servertest.Client(t, withToken(config, "unknown"))
	if _, err := unknown.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("list with an unknown token: %v", err)
	}
	if user := whoAmI(t, admin); user.Username != "system:admin" {
		t.Errorf("without a token: %v", user)
	}
}

// kube-controller-manager, kube-scheduler and aggregated API servers read this ConfigMap at start.
func TestAuthenticationConfigMap(t *testing.T) {
	server := secureServer(t, nil)
	scheduler := userOf(t, server, "system:kube-scheduler")
	published, err := scheduler.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	check(t, err)
	frontProxy, err := server.FrontProxyCA()
	check(t, err)
	if published.Data["requestheader-client-ca-file"] != string(frontProxy) || published.Data["requestheader-allowed-names"] != `["front-proxy-client"]` {
		t.Errorf("front proxy in %v", published.Data)
	}
	if published.Data["client-ca-file"] == "" {
		t.Error("no CA of clients")
	}
}

func TestFrontProxyNamesTheUser(t *testing.T) {
	authority, err := certs.NewAuthority("gateway-ca")
	check(t, err)
	file := filepath.Join(t.TempDir(), "ca.crt")
	check(t, os.WriteFile(file, authority.CertificatePEM(), 0o600))
	server := secureServer(t, func(c *miniapi.Config) {
		c.Secure = &miniapi.Secure{RequestHeaders: miniapi.RequestHeaders{
			ClientCAFile: file, AllowedNames: []string{"gateway"},
			UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"},
		}}
	})
	pair, err := authority.IssueClient("gateway")
	check(t, err)
	config := rest.AnonymousClientConfig(server.RESTConfig())
	config.CertData, config.KeyData = pair.Certificate, pair.Key
	config.Wrap(withHeaders(map[string]string{"X-Remote-User": "jane", "X-Remote-Group": "devs"}))
	if user := whoAmI(t, servertest.Client(t, config)); user.Username != "jane" || len(user.Groups) != 2 {
		t.Errorf("the front proxy names %v", user)
	}
	eve, err := server.AddUser("eve")
	check(t, err)
	eve.Wrap(withHeaders(map[string]string{"X-Remote-User": "jane"}))
	if user := whoAmI(t, servertest.Client(t, eve)); user.Username != "eve" {
		t.Errorf("a user who is no front proxy names %v", user)
	}
}

type headerTransport struct {
	http.RoundTripper
	headers map[string]string
}

func (h headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for key, value := range h.headers {
		r.Header.Set(key, value)
	}
	return h.RoundTripper.RoundTrip(r)
}

func withHeaders(headers map[string]string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return headerTransport{next, headers} }
}
