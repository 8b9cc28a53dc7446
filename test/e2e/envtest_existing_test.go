package e2e_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// existing returns an environment for a running server.
func existing(server *miniapi.Server) *envtest.Environment {
	return &envtest.Environment{UseExistingCluster: new(true), Config: server.RESTConfig()}
}

func TestEnvtestUsesARunningServer(t *testing.T) {
	for name, config := range map[string]miniapi.Config{
		"plain HTTP": {},
		"TLS":        {Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC},
	} {
		t.Run(name, func(t *testing.T) {
			server := servertest.Start(t, config)
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
				t.Errorf("request after Stop of the environment, which must not stop the server: %v", err)
			}
		})
	}
}

func TestEnvtestInstallsCustomResources(t *testing.T) {
	env := existing(servertest.Start(t, miniapi.Config{}))
	env.CRDDirectoryPaths = []string{"testdata/crd"}
	config, err := env.Start()
	check(t, err)
	c, err := client.New(config, client.Options{})
	check(t, err)
	guestbook := &unstructured.Unstructured{}
	guestbook.SetAPIVersion("webapp.example.com/v1")
	guestbook.SetKind("Guestbook")
	guestbook.SetNamespace("default")
	guestbook.SetName("visitors")
	check(t, c.Create(t.Context(), guestbook))
	stale := guestbook.DeepCopy()
	guestbook.SetLabels(map[string]string{"page": "2"})
	check(t, c.Update(t.Context(), guestbook))
	if err := c.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("an update from a stale copy: %v", err)
	}
	check(t, env.Stop())
}

// envtest adds users only to control planes that it has started. For a running server use
// Server.AddUser.
func TestEnvtestCannotAddUsersToARunningServer(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Authorization: miniapi.RBAC})
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
		t.Errorf("jane, without a role: %v", err)
	}
}
