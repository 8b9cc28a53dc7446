package e2e_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/miniapi/miniapi"
)

// existing is an environment as a suite has one, for a running server.
func existing(server *miniapi.Server) *envtest.Environment {
	return &envtest.Environment{UseExistingCluster: new(true), Config: server.RESTConfig()}
}

func TestEnvtestUsesARunningServer(t *testing.T) {
	for name, config := range map[string]miniapi.Config{
		"plain HTTP": {},
		"TLS":        {Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServerWith(t, config)
			env := existing(server)
			started, err := env.Start()
			check(t, err)
			c, err := client.New(started, client.Options{})
			check(t, err)
			check(t, c.Create(t.Context(), newConfigMap("a")))
			check(t, env.Stop())

			fromFile, err := clientcmd.RESTConfigFromKubeConfig(env.KubeConfig)
			check(t, err)
			c, err = client.New(fromFile, client.Options{})
			check(t, err)
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(newConfigMap("a")), &corev1.ConfigMap{}); err != nil {
				t.Errorf("with the environment's kubeconfig, the server being ours to stop: %v", err)
			}
		})
	}
}

// The definitions are stored, then envtest waits in vain for what they define:
// Start says so and returns the config, with which all else works.
func TestEnvtestWaitsForCustomResources(t *testing.T) {
	env := existing(startServer(t))
	env.CRDDirectoryPaths = []string{"testdata/crd"}
	env.CRDInstallOptions.MaxTime = time.Millisecond
	config, err := env.Start()
	if err == nil || !strings.Contains(err.Error(), "waiting for CRDs to appear as API resources") {
		t.Fatalf("Start: %v", err)
	}
	scheme := runtime.NewScheme()
	check(t, apiextensionsv1.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	check(t, err)
	var stored apiextensionsv1.CustomResourceDefinition
	check(t, c.Get(t.Context(), client.ObjectKey{Name: "guestbooks.webapp.example.com"}, &stored))
}

// envtest adds users to a control plane that it has started; the server adds
// them to itself.
func TestEnvtestAddsNoUserToARunningServer(t *testing.T) {
	server := startServerWith(t, miniapi.Config{Authorization: miniapi.RBAC})
	env := existing(server)
	_, err := env.Start()
	check(t, err)
	jane := envtest.User{Name: "jane", Groups: []string{"devs"}}
	if _, err := env.AddUser(jane, nil); err == nil {
		t.Error("envtest has learnt to: docs/envtest.md should say so")
	}
	config, err := server.AddUser(jane.Name, jane.Groups...)
	check(t, err)
	c, err := client.New(config, client.Options{})
	check(t, err)
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); !apierrors.IsForbidden(err) {
		t.Errorf("jane, who has no role: %v", err)
	}
}
