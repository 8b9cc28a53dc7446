package integration_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// reviewer is a server that answers reviews over HTTPS.
type reviewer struct {
	url, kubeconfig string

	mu      sync.Mutex // guards the fields below
	reviews []map[string]any
	answer  func(spec map[string]any) (status map[string]any)
}

// newReviewer starts a server that requires the bearer token of its kubeconfig.
func newReviewer(t *testing.T, answer func(spec map[string]any) map[string]any) *reviewer {
	t.Helper()
	r := &reviewer{answer: answer}
	server := httptest.NewTLSServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	ca, err := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	check(t, err)
	r.kubeconfig = write(t, t.TempDir(), "webhook.kubeconfig", fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "a",
		"clusters": [{"name": "a", "cluster": {"server": "%s/review", "certificate-authority-data": %s}}],
		"users": [{"name": "a", "user": {"token": "secret"}}],
		"contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}]}`, r.url, ca))
	return r
}

func (r *reviewer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil || request.URL.Path != "/review" || request.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, "unexpected request", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reviews = append(r.reviews, review)
	status := r.answer(review["spec"].(map[string]any))
	if status == nil {
		http.Error(w, "no answer", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review["apiVersion"], "kind": review["kind"], "status": status})
}

// received returns the reviews since the last call.
func (r *reviewer) received() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	reviews := r.reviews
	r.reviews = nil
	return reviews
}

func TestTokenWebhook(t *testing.T) {
	webhook := newReviewer(t, func(spec map[string]any) map[string]any {
		switch spec["token"] {
		case "ann-token":
			return map[string]any{"authenticated": true, "user": map[string]any{
				"username": "ann", "uid": "7", "groups": []string{"dev"}, "extra": map[string]any{"example.com/a": []string{"b"}},
			}}
		case "vault-token":
			return map[string]any{"authenticated": true, "audiences": []string{"vault"}, "user": map[string]any{"username": "ann"}}
		case "broken-token":
			return map[string]any{"authenticated": false, "error": "the token is broken"}
		case "silent-token":
			return nil
		}
		return map[string]any{"authenticated": false}
	})
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			server := secureServer(t, func(c *miniapi.Config) {
				c.Secure.TokenWebhook = miniapi.TokenWebhook{ConfigFile: webhook.kubeconfig, Version: version}
			})
			config := rest.AnonymousClientConfig(server.RESTConfig())
			config.BearerToken = "ann-token"
			ann := servertest.Client(t, config)
			want := authenticationv1.UserInfo{
				Username: "ann", UID: "7", Groups: []string{"dev", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{"example.com/a": {"b"}},
			}
			for range 2 { // the second answer is cached
				if diff := cmp.Diff(want, whoAmI(t, ann)); diff != "" {
					t.Error(diff)
				}
			}
			sent := []map[string]any{{
				"apiVersion": "authentication.k8s.io/" + version, "kind": "TokenReview", "metadata": map[string]any{},
				"spec": map[string]any{"token": "ann-token", "audiences": []any{"https://kubernetes.default.svc"}}, "status": map[string]any{"user": map[string]any{}},
			}}
			if diff := cmp.Diff(sent, webhook.received()); diff != "" {
				t.Error(diff)
			}
			for token, want := range map[string]int{"unknown-token": 401, "vault-token": 401, "broken-token": 401, "silent-token": 401} {
				if status := statusFor(t, server, http.Header{"Authorization": {"Bearer " + token}}); status != want {
					t.Errorf("%s: %d, want %d", token, status, want)
				}
			}
			review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "broken-token"}}
			review, err := servertest.Client(t, server.RESTConfig()).AuthenticationV1().TokenReviews().Create(t.Context(), review, metav1.CreateOptions{})
			check(t, err)
			if want := "[invalid bearer token, the token is broken]"; review.Status.Error != want {
				t.Errorf("got  %s\nwant %s", review.Status.Error, want)
			}
			webhook.received()
		})
	}
}

// allowDev allows everything to the group dev, denies everything to the group banned, and leaves
// other users to the next authorizer.
func allowDev(spec map[string]any) map[string]any {
	groups, _ := spec["groups"].([]any)
	if groups == nil {
		groups, _ = spec["group"].([]any) // in v1beta1
	}
	switch {
	case slices.Contains(groups, any("dev")):
		return map[string]any{"allowed": true}
	case slices.Contains(groups, any("banned")):
		return map[string]any{"allowed": false, "denied": true, "reason": "banned"}
	case slices.Contains(groups, any("silent")):
		return nil
	}
	return map[string]any{"allowed": false, "reason": "not in dev"}
}

// listError returns the error of a user who lists ConfigMaps.
func listError(t *testing.T, server *miniapi.Server, user string, groups ...string) string {
	t.Helper()
	return listErrorOf(t, userOf(t, server, user, groups...))
}

func listErrorOf(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a", LabelSelector: "app in (b)"})
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestAuthorizationWebhook(t *testing.T) {
	webhook := newReviewer(t, allowDev)
	const forbidden = `configmaps "a" is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace "default"`
	for version, groupField := range map[string]string{"v1": "groups", "v1beta1": "group"} {
		t.Run(version, func(t *testing.T) {
			server := secureServer(t, func(c *miniapi.Config) {
				c.Authorization = "Webhook,RBAC"
				c.AuthorizationWebhook = miniapi.AuthorizationWebhook{ConfigFile: webhook.kubeconfig, Version: version}
			})
			webhook.received()
			ann := userOf(t, server, "ann", "dev")
			for range 2 { // the second answer is cached
				if err := listErrorOf(t, ann); err != "" {
					t.Error(err)
				}
			}
			reviews := webhook.received()
			if len(reviews) != 1 {
				t.Fatalf("%d reviews: %v", len(reviews), reviews)
			}
			spec := reviews[0]["spec"].(map[string]any)
			delete(spec, "extra") // the fingerprint of the certificate
			want := map[string]any{
				"user": "ann", groupField: []any{"dev", "system:authenticated"},
				"resourceAttributes": map[string]any{
					"verb": "list", "namespace": "default", "version": "v1", "resource": "configmaps", "name": "a",
					"fieldSelector": map[string]any{"requirements": []any{map[string]any{"key": "metadata.name", "operator": "In", "values": []any{"a"}}}},
					"labelSelector": map[string]any{"requirements": []any{map[string]any{"key": "app", "operator": "In", "values": []any{"b"}}}},
				},
			}
			if diff := cmp.Diff(want, spec); diff != "" {
				t.Error(diff)
			}
			for group, want := range map[string]string{
				"banned": forbidden + ": banned",
				"other":  forbidden + ": default: not in dev",
				"silent": "Internal error occurred: no answer",
			} {
				if err := listError(t, server, "ann", group); err != want {
					t.Errorf("%s:\ngot  %s\nwant %s", group, err, want)
				}
			}
			if err := listError(t, server, "root", "system:masters"); err != "" {
				t.Errorf("an administrator: %s", err)
			}
			const metric, labels = "apiserver_authorization_webhook_", `\{name="default",result="%s"\} %d`
			expectMetrics(t, server, metric+"evaluations_total"+fmt.Sprintf(labels, "success", 3),
				metric+"duration_seconds_count"+fmt.Sprintf(labels, "error", 1),
				metric+"evaluations_fail_open_total"+fmt.Sprintf(labels, "error", 1))
		})
	}
}

// authorizationConfig returns an AuthorizationConfiguration with a webhook and RBAC.
func authorizationConfig(webhook *reviewer, more string) string {
	return fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: first
  webhook:
    timeout: 30s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: %s}
%s
- {type: RBAC, name: rbac}
`, webhook.kubeconfig, more)
}

func TestAuthorizationConfig(t *testing.T) {
	webhook := newReviewer(t, allowDev)
	const condition = "    failurePolicy: %s\n    matchConditions: [{expression: \"request.resourceAttributes.resource == 'configmaps' && request.user != 'bob'\"}]"
	path := write(t, t.TempDir(), "authorization.yaml", authorizationConfig(webhook, fmt.Sprintf(condition, "NoOpinion")))
	server := secureServer(t, func(c *miniapi.Config) { c.Authorization, c.AuthorizationConfig = "", path })
	if err := listError(t, server, "ann", "dev"); err != "" {
		t.Error(err)
	}
	webhook.received()
	if err := listError(t, server, "bob", "dev"); !strings.HasSuffix(err, `in the namespace "default"`) || len(webhook.received()) > 0 {
		t.Errorf("a user that the match condition excludes: %q", err)
	}
	write(t, path[:strings.LastIndex(path, "/")], "authorization.yaml", authorizationConfig(webhook, fmt.Sprintf(condition, "Deny")))
	await(t, func() bool { // the first answer may be from before the reload
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "ann", Groups: []string{"silent"}, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "configmaps"},
		}}
		review, err := servertest.Client(t, server.RESTConfig()).AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		check(t, err)
		return review.Status.Denied
	})
}

func TestInvalidAuthorization(t *testing.T) {
	webhook := newReviewer(t, allowDev)
	file := func(content string) miniapi.Config {
		return miniapi.Config{AuthorizationConfig: write(t, t.TempDir(), "authorization.yaml", content)}
	}
	const header = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
	for name, tc := range map[string]struct {
		config miniapi.Config
		want   string
	}{
		"a mode and a file":       {miniapi.Config{Authorization: "RBAC", AuthorizationConfig: "a"}, "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"},
		"no webhook":              {miniapi.Config{Authorization: "Webhook"}, `authorization mode "Webhook" needs a server: set --authorization-webhook-config-file`},
		"an unused webhook":       {miniapi.Config{AuthorizationWebhook: miniapi.AuthorizationWebhook{ConfigFile: "a"}}, "--authorization-webhook-* flags need the mode Webhook in --authorization-mode"},
		"an unknown version":      {miniapi.Config{Authorization: "Webhook", AuthorizationWebhook: miniapi.AuthorizationWebhook{ConfigFile: webhook.kubeconfig, Version: "v2"}}, `unsupported webhook authorizer version "v2", supported versions are "v1", "v1beta1"`},
		"a missing kubeconfig":    {miniapi.Config{Authorization: "Webhook", AuthorizationWebhook: miniapi.AuthorizationWebhook{ConfigFile: "/nowhere/a"}}, "webhook configuration /nowhere/a: stat /nowhere/a: no such file or directory"},
		"a missing file":          {miniapi.Config{AuthorizationConfig: "/nowhere/a"}, "--authorization-config: open /nowhere/a: no such file or directory"},
		"no authorizers":          {file(header), "authorizers: Required value: at least one authorization mode must be defined"},
		"ABAC":                    {file(header + "authorizers: [{type: ABAC, name: abac}]\n"), `authorizers[0].type: Unsupported value: "ABAC": supported values: "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`},
		"another name":            {file(header + "authorizers: [{type: RBAC, name: roles}]\n"), `authorizers[0].name: Invalid value: "roles": expected name rbac for authorizer RBAC`},
		"no failure policy":       {file(authorizationConfig(webhook, "")), "authorizers[0].failurePolicy: Required value"},
		"an invalid condition":    {file(authorizationConfig(webhook, "    failurePolicy: Deny\n    matchConditions: [{expression: 'request.'}]")), "authorizers[0].matchConditions[0].expression: Invalid value"},
		"a webhook in a cluster":  {file(strings.Replace(authorizationConfig(webhook, "    failurePolicy: Deny"), "type: KubeConfigFile, kubeConfigFile: "+webhook.kubeconfig, "type: InClusterConfig", 1)), "authorizers[0].connectionInfo.type: Forbidden: the server is not in a cluster: use KubeConfigFile"},
		"a token webhook version": {miniapi.Config{Secure: &miniapi.Secure{TokenWebhook: miniapi.TokenWebhook{ConfigFile: webhook.kubeconfig, Version: "v2"}}}, `unsupported authentication webhook version "v2", supported versions are "v1", "v1beta1"`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.config.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}
