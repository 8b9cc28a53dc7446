package integration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/servertest"
)

// accessTable has a line for each request and the status for three kinds of users: the reader, to
// whom accessObjects grant rights, another user without rights, and an anonymous client. The
// reader's requests are authorized, and may fail for other reasons.
const accessTable = `
GET    /api/v1/namespaces/default/pods                      ok  403 403
GET    /api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1  403 403 403
GET    /api/v1/namespaces/default/pods/a                    ok  403 403
GET    /api/v1/namespaces/default/pods/a/log                ok  403 403
GET    /api/v1/namespaces/default/pods/a/status             403 403 403
GET    /api/v1/namespaces/default/pods/a/exec               403 403 403
POST   /api/v1/namespaces/default/pods                      403 403 403
PUT    /api/v1/namespaces/default/pods/a                    403 403 403
PATCH  /api/v1/namespaces/default/pods/a                    403 403 403
PATCH  /api/v1/namespaces/default/pods/a/status             ok  403 403
DELETE /api/v1/namespaces/default/pods/a                    403 403 403
DELETE /api/v1/namespaces/default/pods                      403 403 403
GET    /api/v1/namespaces/default/configmaps/named          ok  403 403
GET    /api/v1/namespaces/default/configmaps/other          403 403 403
GET    /api/v1/namespaces/kube-system/pods                  403 403 403
GET    /api/v1/pods                                         403 403 403
GET    /api/v1/nodes                                        403 403 403
GET    /apis/apps/v1/namespaces/default/deployments         403 403 403
GET    /apis/example.com/v1/widgets                         403 403 403
GET    /metrics                                             ok  403 403
POST   /metrics                                             403 403 403
GET    /debug/pprof/                                        403 403 403
GET    /apis                                                ok  ok  403
GET    /version                                             ok  ok  ok
GET    /livez                                               ok  ok  ok
`

// accessObjects grant the rights of the reader, who has several names, and of the impersonator.
const accessObjects = `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: default}}
---
{apiVersion: v1, kind: Secret, metadata: {name: bound, namespace: default}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: bound, namespace: default}, spec: {serviceAccountName: robot, containers: [{name: c, image: c}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules:
- {apiGroups: [""], resources: [pods, pods/log], verbs: [get, list]}
- {apiGroups: [""], resources: [pods/status], verbs: [patch]}
- {apiGroups: [""], resources: [configmaps], resourceNames: [named], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}
- {kind: ServiceAccount, name: robot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: metrics}
rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metrics}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metrics}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}
- {kind: ServiceAccount, name: robot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: impersonator}
rules:
- {apiGroups: [""], resources: [users], resourceNames: [reader], verbs: [impersonate]}
- {apiGroups: [""], resources: [groups], resourceNames: [readers], verbs: [impersonate]}
- {apiGroups: [authentication.k8s.io], resources: [uids], resourceNames: ["7"], verbs: [impersonate]}
- {apiGroups: [authentication.k8s.io], resources: [userextras/scope], resourceNames: [view], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: impersonator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: impersonator}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: impersonator}]
`

// accessKind is a column of accessTable, or the status of all its requests.
type accessKind int

const (
	asReader accessKind = iota
	asOther
	asAnonymous
	// unauthorized means 401 for every request, forbidden 403.
	unauthorized
	forbidden
)

// credentials are the credentials of a request.
type credentials struct {
	header      http.Header
	certificate *tls.Certificate
}

// accessServer is a server that accepts all kinds of credentials.
type accessServer struct {
	*miniapi.Server
	clients, proxies, unknown *certs.Authority
	key                       *ecdsa.PrivateKey // of tokens of service accounts
	admin                     *kubernetes.Clientset
}

func newAccessServer(t *testing.T) *accessServer {
	t.Helper()
	s := &accessServer{clients: newAuthority(t, "clients"), proxies: newAuthority(t, "proxies"), unknown: newAuthority(t, "unknown")}
	dir := t.TempDir()
	var err error
	s.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	check(t, err)
	s.Server = secureServer(t, func(c *miniapi.Config) {
		c.Manifests = dir + "/objects"
		check(t, os.Mkdir(c.Manifests, 0o700))
		write(t, c.Manifests, "objects.yaml", accessObjects)
		c.Secure = &miniapi.Secure{
			ClientCAFile:                 write(t, dir, "clients.crt", string(s.clients.CertificatePEM())),
			ServiceAccountSigningKeyFile: write(t, dir, "sa.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))),
			TokenAuthFile:                write(t, dir, "tokens.csv", "reader-token,reader,1\ngroup-token,ann,2,\"readers\"\nother-token,other,3\n"),
			RequestHeaders: miniapi.RequestHeaders{
				ClientCAFile: write(t, dir, "proxies.crt", string(s.proxies.CertificatePEM())), AllowedNames: []string{"gateway"},
				UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"},
			},
		}
	})
	s.admin = servertest.Client(t, s.RESTConfig())
	return s
}

func bearer(token string) credentials {
	return credentials{header: http.Header{"Authorization": {"Bearer " + token}}}
}

// certified returns the credentials of a certificate with headers, given as names and values.
func certified(t *testing.T, authority *certs.Authority, user string, headers ...string) credentials {
	t.Helper()
	pair, err := authority.IssueClient(user)
	check(t, err)
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	check(t, err)
	c := credentials{header: http.Header{}, certificate: &certificate}
	for i := 0; i < len(headers); i += 2 {
		c.header.Add(headers[i], headers[i+1])
	}
	return c
}

// robotToken returns a token of the service account, bound to an object of a kind if it has a name.
func (s *accessServer) robotToken(t *testing.T, kind, name string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	if name != "" {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: kind, Name: name}
	}
	token, err := s.admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", request, metav1.CreateOptions{})
	check(t, err)
	return token.Status.Token
}

// legacyToken returns a token of the service account in the Secret legacy.
func (s *accessServer) legacyToken(t *testing.T) string {
	t.Helper()
	account, err := s.admin.CoreV1().ServiceAccounts("default").Get(t.Context(), "robot", metav1.GetOptions{})
	check(t, err)
	const prefix = "kubernetes.io/serviceaccount/"
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:default:robot",
		prefix + "namespace": "default", prefix + "secret.name": "legacy",
		prefix + "service-account.name": "robot", prefix + "service-account.uid": string(account.UID),
	}).SignedString(s.key)
	check(t, err)
	_, err = s.admin.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "legacy", Annotations: map[string]string{corev1.ServiceAccountNameKey: "robot"}},
		Type:       corev1.SecretTypeServiceAccountToken,
		Data:       map[string][]byte{corev1.ServiceAccountTokenKey: []byte(token)},
	}, metav1.CreateOptions{})
	check(t, err)
	return token
}

func TestAccessTable(t *testing.T) {
	server := newAccessServer(t)
	legacy := server.legacyToken(t)
	impersonator := func(headers ...string) credentials { return certified(t, server.clients, "impersonator", headers...) }
	gateway := func(headers ...string) credentials { return certified(t, server.proxies, "gateway", headers...) }
	ways := map[string]struct {
		credentials
		want accessKind
	}{
		"a client certificate":                    {certified(t, server.clients, "reader"), asReader},
		"a client certificate of another user":    {certified(t, server.clients, "other"), asOther},
		"a client certificate of an unknown CA":   {certified(t, server.unknown, "reader"), unauthorized},
		"a client certificate of the proxies' CA": {certified(t, server.proxies, "reader"), unauthorized},
		"a token of the file":                     {bearer("reader-token"), asReader},
		"a token of the file, by its group":       {bearer("group-token"), asReader},
		"a token of the file of another user":     {bearer("other-token"), asOther},
		"an unknown token":                        {bearer("none"), unauthorized},
		"a service account":                       {bearer(server.robotToken(t, "", "")), asReader},
		"a service account, bound to a pod":       {bearer(server.robotToken(t, "Pod", "bound")), asReader},
		"a service account, bound to a secret":    {bearer(server.robotToken(t, "Secret", "bound")), asReader},
		"a service account, bound to a node":      {bearer(server.robotToken(t, "Node", "n1")), asReader},
		"a service account, token in a secret":    {bearer(legacy), asReader},
		"impersonation of a user":                 {impersonator("Impersonate-User", "reader"), asReader},
		"impersonation of a user and a group":     {impersonator("Impersonate-User", "reader", "Impersonate-Group", "readers"), asReader},
		"impersonation of a UID":                  {impersonator("Impersonate-User", "reader", "Impersonate-Uid", "7"), asReader},
		"impersonation of an extra field":         {impersonator("Impersonate-User", "reader", "Impersonate-Extra-Scope", "view"), asReader},
		"impersonation of a user without right":   {impersonator("Impersonate-User", "other"), forbidden},
		"impersonation of a group without right":  {impersonator("Impersonate-User", "reader", "Impersonate-Group", "system:masters"), forbidden},
		"impersonation of a UID without right":    {impersonator("Impersonate-User", "reader", "Impersonate-Uid", "8"), forbidden},
		"impersonation of an extra without right": {impersonator("Impersonate-User", "reader", "Impersonate-Extra-Scope", "edit"), forbidden},
		"impersonation by a user without rights":  {certified(t, server.clients, "reader", "Impersonate-User", "root"), forbidden},
		"the impersonator itself":                 {impersonator(), asOther},
		"a front proxy":                           {gateway("X-Remote-User", "reader"), asReader},
		"a front proxy, by a group":               {gateway("X-Remote-User", "ann", "X-Remote-Group", "readers"), asReader},
		"a front proxy for another user":          {gateway("X-Remote-User", "other"), asOther},
		"a front proxy without a user":            {gateway(), unauthorized},
		"a front proxy of another name":           {certified(t, server.proxies, "else", "X-Remote-User", "reader"), unauthorized},
		"headers of a client that is no proxy":    {certified(t, server.clients, "other", "X-Remote-User", "reader"), asOther},
		"headers of an anonymous client":          {credentials{header: http.Header{"X-Remote-User": {"reader"}}}, asAnonymous},
		"no credentials":                          {credentials{}, asAnonymous},
		"a foreign Origin":                        {credentials{header: http.Header{"Origin": {"https://evil.example"}}}, asAnonymous},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) { server.checkAccess(t, way.credentials, way.want) })
	}

	background := metav1.DeletePropagationBackground
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64), PropagationPolicy: &background}
	check(t, server.admin.CoreV1().Pods("default").Delete(t.Context(), "bound", now))
	check(t, server.admin.CoreV1().Secrets("default").Delete(t.Context(), "bound", now))
	check(t, server.admin.CoreV1().Secrets("default").Delete(t.Context(), "legacy", now))
	check(t, server.admin.CoreV1().Nodes().Delete(t.Context(), "n1", now))
	for _, name := range []string{"bound to a pod", "bound to a secret", "bound to a node", "token in a secret"} {
		t.Run(name+" that was deleted", func(t *testing.T) {
			server.checkAccess(t, ways["a service account, "+name].credentials, unauthorized)
		})
	}
	t.Run("a service account after these deletions", func(t *testing.T) {
		server.checkAccess(t, ways["a service account"].credentials, asReader)
	})
	check(t, server.admin.CoreV1().ServiceAccounts("default").Delete(t.Context(), "robot", now))
	t.Run("a deleted service account", func(t *testing.T) {
		server.checkAccess(t, ways["a service account"].credentials, unauthorized)
	})
}

// checkAccess sends all requests of accessTable with the credentials.
func (s *accessServer) checkAccess(t *testing.T, c credentials, kind accessKind) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.RESTConfig().CAData)
	certificate := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if c.certificate == nil {
			return &tls.Certificate{}, nil
		}
		return c.certificate, nil
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, GetClientCertificate: certificate}}
	defer transport.CloseIdleConnections()
	for line := range strings.Lines(strings.TrimSpace(accessTable)) {
		fields := strings.Fields(line)
		method, path := fields[0], fields[1]
		var want string
		switch kind {
		case unauthorized:
			want = "401"
		case forbidden:
			want = "403"
		default:
			want = fields[2+int(kind)]
		}
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, nil)
		check(t, err)
		r.Header = http.Header{"Content-Type": {runtime.ContentTypeJSON}}
		maps.Copy(r.Header, c.header)
		response, err := transport.RoundTrip(r)
		check(t, err)
		response.Body.Close()
		got := response.Status[:3]
		if got != "401" && got != "403" {
			got = "ok"
		}
		if got != want {
			t.Errorf("%s %s: %s, want %s", method, path, response.Status, want)
		}
	}
}
