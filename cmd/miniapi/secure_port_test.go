package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSecurePort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	check(t, os.WriteFile(tokens, []byte("secret,jane,u1\n"), 0o600))
	s := serveCommand(t, command(t, "--secure-port=0", "--bind-address=0.0.0.0", "--cert-dir="+dir, "--authorization-mode=RBAC",
		"--token-auth-file="+tokens, "--write-kubeconfig="+filepath.Join(dir, "kubeconfig")))
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Errorf("URL %s", s.url)
	}
	if !strings.Contains(s.banner, "kubectl --kubeconfig "+s.kubeconfig+" auth whoami") {
		t.Errorf("the banner has no whoami command:\n%s", s.banner)
	}
	review, err := s.clientset().AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	check(t, err)
	if review.Status.UserInfo.Username != "system:admin" {
		t.Errorf("the kubeconfig authenticates as %v", review.Status.UserInfo)
	}
	for _, file := range []string{"apiserver.crt", "apiserver.key"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
	check(t, s.stop(syscall.SIGTERM))
}

func TestPlainHTTPBesideASecurePort(t *testing.T) {
	t.Parallel()
	s := serve(t, "--secure-port=0")
	if !strings.HasPrefix(s.url, "https://") || !strings.Contains(s.banner, "  curl http://127.0.0.1:") {
		t.Errorf("URL %s in\n%s", s.url, s.banner)
	}
	check(t, s.stop(syscall.SIGTERM))
}
