package controllers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

func rootCA() miniapi.Config {
	return miniapi.Config{Secure: &miniapi.Secure{}, Controllers: []string{"*", "root-ca-cert-publisher", "serviceaccount"}}
}

// awaitRootCA waits until the ConfigMap of a namespace has a CA, and returns the ConfigMap.
func (e *env) awaitRootCA(namespace string) (published *corev1.ConfigMap) {
	e.Helper()
	e.await("kube-root-ca.crt in namespace "+namespace, func(ctx context.Context) bool {
		var err error
		published, err = e.client.CoreV1().ConfigMaps(namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil && len(published.Data["ca.crt"]) > 1
	})
	return published
}

func TestTheRootCAVerifiesTheServer(t *testing.T) {
	e := start(t, rootCA())
	e.createNamespace("n")
	for _, namespace := range []string{"default", "n"} {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(e.awaitRootCA(namespace).Data["ca.crt"])) {
			t.Fatal("the CA is no certificate")
		}
		address, err := url.Parse(e.server.URL())
		e.check(err)
		connection, err := tls.Dial("tcp", address.Host, &tls.Config{RootCAs: roots, ServerName: "kubernetes.default.svc"})
		e.check(err)
		e.check(connection.Close())
	}
}

func TestTheRootCAIsRestored(t *testing.T) {
	e := start(t, rootCA())
	want := e.awaitRootCA("default").Data["ca.crt"]
	e.patchConfigMap("default", "kube-root-ca.crt", `{"data":{"ca.crt":"x","more":"y"}}`)
	if got := e.awaitRootCA("default").Data; got["ca.crt"] != want || len(got) != 1 {
		t.Errorf("after a change: %q", got)
	}
	e.check(e.client.CoreV1().ConfigMaps("default").Delete(t.Context(), "kube-root-ca.crt", metav1.DeleteOptions{}))
	if got := e.awaitRootCA("default").Data; got["ca.crt"] != want {
		t.Errorf("after a deletion: %q", got)
	}
}

func TestWithoutHTTPSThereIsNoRootCA(t *testing.T) {
	config := rootCA()
	config.Secure = nil
	e := start(t, config)
	e.awaitServiceAccount("default")
	if _, err := e.client.CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("kube-root-ca.crt: %v", err)
	}
}
