package controllers_test

import (
	"context"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

func serviceAccounts() miniapi.Config {
	return miniapi.Config{Controllers: []string{"*", "serviceaccount"}}
}

func (e *env) awaitServiceAccount(namespace string) {
	e.Helper()
	e.await("the account default in namespace "+namespace, func(ctx context.Context) bool {
		_, err := e.client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
}

func TestEveryNamespaceHasADefaultServiceAccount(t *testing.T) {
	e := start(t, serviceAccounts())
	e.createNamespace("n")
	for _, namespace := range []string{"default", "kube-system", "n"} {
		e.awaitServiceAccount(namespace)
	}
	token, err := e.client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil || token.Status.Token == "" {
		t.Errorf("token %v, error %v", token, err)
	}
}

func TestADeletedDefaultServiceAccountIsCreatedAgain(t *testing.T) {
	e := start(t, serviceAccounts())
	e.awaitServiceAccount("default")
	e.check(e.client.CoreV1().ServiceAccounts("default").Delete(t.Context(), "default", metav1.DeleteOptions{}))
	e.awaitServiceAccount("default")
}

// The account is deleted with its namespace, and not created again before the namespace is gone.
func TestATerminatingNamespaceGetsNoServiceAccount(t *testing.T) {
	e := start(t, serviceAccounts())
	e.createNamespace("n")
	e.awaitServiceAccount("n")
	e.deleteNamespace("n")
	e.awaitNamespaceGone("n")
	if _, err := e.client.CoreV1().ServiceAccounts("n").Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the account: %v", err)
	}
}
