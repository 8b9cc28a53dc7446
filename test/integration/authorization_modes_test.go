package integration_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestAuthorizationModes(t *testing.T) {
	for mode, want := range map[miniapi.AuthorizationMode]string{ // the error; "" if everything is allowed
		"":                 "",
		"AlwaysAllow":      "",
		"RBAC,AlwaysAllow": "",
		"AlwaysDeny":       `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default": alwaysdeny: Everything is forbidden.`,
		"RBAC":             `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"`,
		"Node,RBAC":        `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"`,
		"RBAC,AlwaysDeny":  `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default": alwaysdeny: Everything is forbidden.`,
	} {
		t.Run(string(mode), func(t *testing.T) {
			server := servertest.Start(t, miniapi.Config{Authorization: mode})
			if _, err := servertest.Client(t, server.RESTConfig()).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err != nil {
				t.Errorf("the administrator: %v", err)
			}
			_, err := userOf(t, server, "jane").CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			if (err != nil || want != "") && (!apierrors.IsForbidden(err) || err.Error() != want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// A node may access its node and the objects that its pods use, and what roles allow.
func TestNodes(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Authorization: "Node,RBAC"})
	admin, node := servertest.Client(t, server.RESTConfig()), userOf(t, server, "system:node:n1", "system:nodes")
	want := `secrets "s" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default": node: no relationship found between node 'n1' and this object`
	get := func() error {
		_, err := node.CoreV1().Secrets("default").Get(t.Context(), "s", metav1.GetOptions{})
		return err
	}
	_, err := admin.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
	check(t, err)
	if err := get(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = admin.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: corev1.PodSpec{
			NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i"}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}}},
		},
	}, metav1.CreateOptions{})
	check(t, err)
	check(t, get())
	own := metav1.ListOptions{FieldSelector: "spec.nodeName=n1"}
	if list, err := node.CoreV1().Pods("").List(t.Context(), own); err != nil || len(list.Items) != 1 {
		t.Errorf("the pods of the node: %v, %v", list, err)
	}
	if _, err := node.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("all pods: %v", err)
	}
	_, err = node.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, metav1.CreateOptions{})
	check(t, err)
}

// The escalation check of RBAC accepts the verb escalate from any authorization mode.
func TestEscalationIsDecidedByAllModes(t *testing.T) {
	for mode, allowed := range map[miniapi.AuthorizationMode]bool{"RBAC,AlwaysAllow": true, "RBAC": false} {
		server := servertest.Start(t, miniapi.Config{Authorization: mode})
		_, err := servertest.Client(t, server.RESTConfig()).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "editors"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "devs"}},
		}, metav1.CreateOptions{})
		check(t, err)
		_, err = userOf(t, server, "jane", "devs").RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: "all"},
			Rules:      []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
		}, metav1.CreateOptions{})
		if (err == nil) != allowed {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestInvalidAuthorizationModes(t *testing.T) {
	for mode, want := range map[miniapi.AuthorizationMode]string{
		"rbac":           `authorization mode "rbac" is unknown: use AlwaysAllow, AlwaysDeny, RBAC, Node or Webhook: did you mean "RBAC"?`,
		"Node,":          `authorization mode "" is unknown: use AlwaysAllow, AlwaysDeny, RBAC, Node or Webhook`,
		"Node, RBAC":     `authorization mode " RBAC" is unknown: use AlwaysAllow, AlwaysDeny, RBAC, Node or Webhook: did you mean "RBAC"?`,
		"RBAC,Node,RBAC": `authorization mode "RBAC" occurs twice in "RBAC,Node,RBAC": remove one`,
		"Webhook":        `authorization mode "Webhook" needs a server: set --authorization-webhook-config-file`,
		"ABAC":           `authorization mode "ABAC" is not supported: use RBAC, and grant rights by roles`,
	} {
		if err := (miniapi.Config{Authorization: mode}).Validate(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
