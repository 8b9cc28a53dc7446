package integration_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/servertest"
)

func secureServer(t *testing.T, configure func(*miniapi.Config)) *miniapi.Server {
	t.Helper()
	config := miniapi.Config{Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC}
	if configure != nil {
		configure(&config)
	}
	return servertest.Start(t, config)
}

func userOf(t *testing.T, server *miniapi.Server, name string, groups ...string) *kubernetes.Clientset {
	t.Helper()
	config, err := server.AddUser(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return servertest.Client(t, config)
}

func whoAmI(t *testing.T, client kubernetes.Interface) authenticationv1.UserInfo {
	t.Helper()
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo
}

func TestAdministratorOverTLS(t *testing.T) {
	server := secureServer(t, nil)
	if !strings.HasPrefix(server.URL(), "https://127.0.0.1:") {
		t.Errorf("URL %s", server.URL())
	}
	client := servertest.Client(t, server.RESTConfig())
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if user := whoAmI(t, client); user.Username != "system:admin" {
		t.Errorf("administrator is %v", user)
	}
	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if user := whoAmI(t, servertest.Client(t, config)); user.Username != "system:admin" {
		t.Errorf("administrator of the kubeconfig is %v", user)
	}
}

func TestUsersAreAuthorizedByRoles(t *testing.T) {
	for name, secure := range map[string]*miniapi.Secure{"over TLS": {}, "over plain HTTP": nil} {
		t.Run(name, func(t *testing.T) {
			server := secureServer(t, func(c *miniapi.Config) { c.Secure = secure })
			admin := servertest.Client(t, server.RESTConfig())
			jane := userOf(t, server, "jane", "devs")
			list := func(namespace string) error {
				_, err := jane.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
				return err
			}
			want := `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"`
			if err := list("default"); !apierrors.IsForbidden(err) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			binding := &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "devs"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "devs"}},
			}
			if _, err := admin.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := list("default"); err != nil {
				t.Errorf("right after the binding: %v", err)
			}
			if err := list("kube-system"); !apierrors.IsForbidden(err) {
				t.Errorf("in another namespace: %v", err)
			}
			if _, err := jane.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
				t.Errorf("escalation by a new binding: %v", err)
			}
		})
	}
}

func TestAccessReviewsUseRoles(t *testing.T) {
	server := secureServer(t, nil)
	jane := userOf(t, server, "jane")
	access, err := jane.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Namespace: "default"}},
	}, metav1.CreateOptions{})
	if err != nil || access.Status.Allowed {
		t.Errorf("review of jane: %v, %v", access, err)
	}
	rules, err := jane.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"},
	}, metav1.CreateOptions{})
	if err != nil || len(rules.Status.ResourceRules) == 0 || len(rules.Status.NonResourceRules) == 0 {
		t.Errorf("rules of all users: %v, %v", rules, err)
	}
	admin := servertest.Client(t, server.RESTConfig())
	other, err := admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: "joe", Groups: []string{"system:masters"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "delete", Resource: "nodes"}},
	}, metav1.CreateOptions{})
	if err != nil || !other.Status.Allowed {
		t.Errorf("review of a member of system:masters: %v, %v", other, err)
	}
}

func TestServiceAccountTokens(t *testing.T) {
	server := secureServer(t, nil)
	admin := servertest.Client(t, server.RESTConfig())
	account, err := admin.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "bot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if token.UID != account.UID || *token.Spec.ExpirationSeconds != 3600 || len(token.Spec.Audiences) != 1 || token.Spec.Audiences[0] != "https://kubernetes.default.svc" {
		t.Errorf("TokenRequest %v", token)
	}
	config := rest.AnonymousClientConfig(server.RESTConfig())
	config.BearerToken = token.Status.Token
	bot := servertest.Client(t, config)
	if user := whoAmI(t, bot); user.Username != "system:serviceaccount:default:bot" || user.UID != string(account.UID) {
		t.Errorf("the token authenticates %v", user)
	}
	review := func() authenticationv1.TokenReviewStatus {
		t.Helper()
		review, err := admin.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Status
	}
	if status := review(); !status.Authenticated || status.User.Username != "system:serviceaccount:default:bot" || len(status.Audiences) != 1 {
		t.Errorf("review %v", status)
	}
	if err := admin.CoreV1().ServiceAccounts("default").Delete(t.Context(), "bot", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if status := review(); status.Authenticated || status.Error != `[invalid bearer token, serviceaccounts "bot" not found]` {
		t.Errorf("review after the deletion of the account: %v", status)
	}
	if _, err := bot.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("request after the deletion of the account: %v", err)
	}
}

func TestAnonymousRequests(t *testing.T) {
	for name, c := range map[string]struct {
		configure func(*miniapi.Config)
		want      map[string]int
	}{
		"accepted with RBAC":            {nil, map[string]int{"/healthz": 200, "/version": 200, "/api": 403}},
		"rejected with RejectAnonymous": {func(c *miniapi.Config) { c.Secure.RejectAnonymous = true }, map[string]int{"/healthz": 401}},
		"rejected with AlwaysAllow":     {func(c *miniapi.Config) { c.Authorization = miniapi.AlwaysAllow }, map[string]int{"/healthz": 401, "/api": 401}},
	} {
		t.Run(name, func(t *testing.T) {
			server := secureServer(t, c.configure)
			client, err := rest.HTTPClientFor(rest.AnonymousClientConfig(server.RESTConfig()))
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			for path, want := range c.want {
				res, err := client.Get(server.URL() + path)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != want || res.ProtoMajor != 2 {
					t.Errorf("%s: %s %s, want %d", path, res.Proto, res.Status, want)
				}
			}
		})
	}
}

// Certificates, keys and tokens from files, as envtest starts kube-apiserver.
func TestCredentialsFromFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	authority, err := certs.NewAuthority("test-ca")
	if err != nil {
		t.Fatal(err)
	}
	serving, err := authority.IssueServing("api.example")
	if err != nil {
		t.Fatal(err)
	}
	write("apiserver.crt", serving.Certificate)
	key := write("apiserver.key", serving.Key)
	server := secureServer(t, func(c *miniapi.Config) {
		c.Secure = &miniapi.Secure{
			CertDir:                      dir,
			ClientCAFile:                 write("ca.crt", authority.CertificatePEM()),
			TokenAuthFile:                write("tokens.csv", []byte("secret,joe,u1,\"devs,ops\"\n")),
			ServiceAccountSigningKeyFile: key,
			ServiceAccountKeyFiles:       []string{key},
			ServiceAccountIssuers:        []string{"https://api.example/"},
		}
	})
	if user := whoAmI(t, servertest.Client(t, server.RESTConfig())); user.Username != "system:admin" {
		t.Errorf("administrator is %v", user)
	}
	pair, err := authority.IssueClient("ann", "ops")
	if err != nil {
		t.Fatal(err)
	}
	byCertificate := rest.AnonymousClientConfig(server.RESTConfig())
	byCertificate.CertData, byCertificate.KeyData = pair.Certificate, pair.Key
	if user := whoAmI(t, servertest.Client(t, byCertificate)); user.Username != "ann" || len(user.Groups) != 2 {
		t.Errorf("by certificate: %v", user)
	}
	byToken := rest.AnonymousClientConfig(server.RESTConfig())
	byToken.BearerToken = "secret"
	if user := whoAmI(t, servertest.Client(t, byToken)); user.Username != "joe" || user.UID != "u1" || len(user.Groups) != 3 {
		t.Errorf("by token: %v", user)
	}
	if user := whoAmI(t, userOf(t, server, "jane")); user.Username != "jane" {
		t.Errorf("user of AddUser: %v", user)
	}
}

func TestPlainPortBesideASecurePort(t *testing.T) {
	server := secureServer(t, func(c *miniapi.Config) { c.Listen = "127.0.0.1:0" })
	res, err := http.Get(server.PlainURL() + "/api/v1/nodes")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s, %v", res.Status, err)
	}
	if secureOnly := secureServer(t, nil); secureOnly.PlainURL() != "" {
		t.Errorf("plain port %s without Config.Listen", secureOnly.PlainURL())
	}
}

func TestStopEndsWatchesOverTLS(t *testing.T) {
	server := secureServer(t, nil)
	client := servertest.Client(t, server.RESTConfig())
	watcher, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	if err := servertest.Stop(server); err != nil {
		t.Error(err)
	}
	for range watcher.ResultChan() {
	}
}

// Start reports invalid files and leaves nothing running.
func TestInvalidCredentialsFiles(t *testing.T) {
	for name, secure := range map[string]miniapi.Secure{
		"missing certificate":                     {CertFile: "none.crt", KeyFile: "none.key"},
		"certificate without a key":               {CertFile: "none.crt"},
		"missing client CA":                       {ClientCAFile: "none.crt"},
		"missing token file":                      {TokenAuthFile: "none.csv"},
		"missing signing key":                     {ServiceAccountSigningKeyFile: "none.key"},
		"verification keys without a signing key": {ServiceAccountKeyFiles: []string{"none.pub"}},
		"address without a port":                  {Listen: "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			if server, err := miniapi.Start(t.Context(), miniapi.Config{Secure: &secure}); err == nil {
				t.Error("Start succeeded", servertest.Stop(server))
			}
		})
	}
}

func TestTLSVersionAndProtocol(t *testing.T) {
	server := secureServer(t, nil)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(server.RESTConfig().CAData)
	conn, err := tls.Dial("tcp", strings.TrimPrefix(server.URL(), "https://"), &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if state := conn.ConnectionState(); state.Version < tls.VersionTLS12 || state.NegotiatedProtocol != "h2" {
		t.Errorf("TLS %x with %q", state.Version, state.NegotiatedProtocol)
	}
}
