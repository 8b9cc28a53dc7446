package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/apiserver"

	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/registry"
)

// newReviewer starts a server of reviews and returns the path of a kubeconfig for it.
func newReviewer(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "a",
		"clusters": [{"name": "a", "cluster": {"server": %q}}], "contexts": [{"name": "a", "context": {"cluster": "a"}}]}`, server.URL)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A request is repeated after errors of the server, five times in all.
func TestReviewsAreRepeated(t *testing.T) {
	var requests, failures atomic.Int64
	kubeconfig := newReviewer(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) <= failures.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","status":{"authenticated":true}}`)
	})
	dialer := outgoing.NewDialer(nil)
	defer dialer.Close()
	client, err := NewClient(ClientConfig{Kubeconfig: kubeconfig, Dialer: dialer, RetryDelay: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	for failed, want := range map[int64]struct {
		requests int64
		err      string
	}{0: {1, ""}, 4: {5, ""}, 100: {5, "an error on the server"}} {
		requests.Store(0)
		failures.Store(failed)
		var answer authenticationv1.TokenReview
		err := client.review(t.Context(), authenticationv1.SchemeGroupVersion.WithKind("TokenReview"), answer, &answer)
		if requests.Load() != want.requests || fmt.Sprint(err) != "<nil>" && want.err == "" || !strings.Contains(fmt.Sprint(err), want.err) {
			t.Errorf("%d failures: %d requests and error %v, want %+v", failed, requests.Load(), err, want)
		}
	}
}

// ignore does not answer a review until the client ends the request.
func ignore(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of the client only after the body
	<-r.Context().Done()
}

// A webhook that does not answer fails after the timeout.
func TestReviewsHaveATimeout(t *testing.T) {
	kubeconfig := newReviewer(t, ignore)
	tokens, err := NewTokens(TokensConfig{TokenConfig: TokenConfig{ConfigFile: kubeconfig}, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer tokens.Close()
	if _, err := tokens.Identify(t.Context(), "token", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a token: got error %v", err)
	}
	dialer := outgoing.NewDialer(nil)
	defer dialer.Close()
	for policy, want := range map[string]registry.Decision{
		apiserver.FailurePolicyDeny: {Denied: true}, apiserver.FailurePolicyNoOpinion: {},
	} {
		authorizer, err := NewAuthorizer(AuthorizerConfig{Dialer: dialer, Metrics: NewMetrics(), Webhook: apiserver.WebhookConfiguration{
			SubjectAccessReviewVersion: V1, FailurePolicy: policy, Timeout: metav1.Duration{Duration: 50 * time.Millisecond},
			ConnectionInfo: apiserver.WebhookConnectionInfo{KubeConfigFile: &kubeconfig},
		}})
		if err != nil {
			t.Fatal(err)
		}
		access := registry.Access{NonResource: &authorizationv1.NonResourceAttributes{Path: "/livez", Verb: "get"}}
		decision, err := authorizer.Authorize(t.Context(), access)
		if !errors.Is(err, context.DeadlineExceeded) || decision != want {
			t.Errorf("%s: got %+v and error %v, want %+v", policy, decision, err, want)
		}
	}
}

func TestTimeoutHasADefault(t *testing.T) {
	client, err := NewClient(ClientConfig{Kubeconfig: newReviewer(t, ignore), Dialer: outgoing.NewDialer(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if got := client.rest.Client.Timeout; got != 30*time.Second {
		t.Errorf("got %v", got)
	}
}

// The cache has the latest answers: a token of which the answer is gone is reviewed again.
func TestCachedAnswersAreLimited(t *testing.T) {
	var requests atomic.Int64
	kubeconfig := newReviewer(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, `{"apiVersion":"authentication.k8s.io/v1beta1","kind":"TokenReview","status":{"authenticated":true}}`)
	})
	tokens, err := NewTokens(TokensConfig{TokenConfig: TokenConfig{ConfigFile: kubeconfig}})
	if err != nil {
		t.Fatal(err)
	}
	defer tokens.Close()
	identify := func(token string) {
		t.Helper()
		if _, err := tokens.Identify(t.Context(), token, []string{"a"}); err != nil {
			t.Fatal(err)
		}
	}
	identify("token")
	identify("token")
	if n := requests.Load(); n != 1 {
		t.Fatalf("%d requests for one token", n)
	}
	for i := range cacheSize {
		tokens.cache.Add(i, &authenticationv1.TokenReviewStatus{}, time.Hour)
	}
	identify("token")
	if n := requests.Load(); n != 2 {
		t.Errorf("the oldest of %d answers is still cached", cacheSize+1)
	}
}
