package integration_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

func TestAuthorizationModes(t *testing.T) {
	for mode, want := range map[miniapi.AuthorizationMode]string{ // "" where everything is allowed
		"":                 "",
		"AlwaysAllow":      "",
		"RBAC,AlwaysAllow": "",
		"AlwaysDeny":       `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default": Everything is forbidden.`,
		"RBAC":             `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"`,
		"Node,RBAC":        `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"`,
		"RBAC,AlwaysDeny":  `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default": Everything is forbidden.`,
	} {
		t.Run(string(mode), func(t *testing.T) {
			server := start(t, miniapi.Config{Authorization: mode})
			if _, err := clientFor(t, server.RESTConfig()).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err != nil {
				t.Errorf("the administrator: %v", err)
			}
			_, err := userOf(t, server, "jane").CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			if (err != nil || want != "") && (!apierrors.IsForbidden(err) || err.Error() != want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// A node is told what to do, and may then do what its role allows.
func TestNodesGetWhatTheyAreGiven(t *testing.T) {
	server := start(t, miniapi.Config{Authorization: "Node,RBAC"})
	node := userOf(t, server, "system:node:n1", "system:nodes")
	want := `nodes is forbidden: User "system:node:n1" cannot list resource "nodes" in API group "" at the cluster scope: the Node authorizer of this server allows nothing: bind a role to the group "system:nodes"`
	if _, err := node.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err := clientFor(t, server.RESTConfig()).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "nodes"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:nodes"}},
	}, metav1.CreateOptions{})
	check(t, err)
	if _, err := node.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

// Whom another mode allows to escalate may grant what roles do not give them.
func TestEscalationIsUpToAllModes(t *testing.T) {
	for mode, allowed := range map[miniapi.AuthorizationMode]bool{"RBAC,AlwaysAllow": true, "RBAC": false} {
		server := start(t, miniapi.Config{Authorization: mode})
		_, err := clientFor(t, server.RESTConfig()).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
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

func TestFaultyAuthorizationModes(t *testing.T) {
	for mode, want := range map[miniapi.AuthorizationMode]string{
		"rbac":           `authorization mode "rbac" is none of AlwaysAllow, AlwaysDeny, RBAC and Node`,
		"Node,":          `authorization mode "" is none of AlwaysAllow, AlwaysDeny, RBAC and Node`,
		"Node, RBAC":     `authorization mode " RBAC" is none of AlwaysAllow, AlwaysDeny, RBAC and Node`,
		"RBAC,Node,RBAC": `authorization mode "RBAC" is named twice in "RBAC,Node,RBAC"`,
		"Webhook":        `authorization mode "Webhook" is kube-apiserver's alone: here users can be given rights by RBAC`,
		"ABAC":           `authorization mode "ABAC" is kube-apiserver's alone: here users can be given rights by RBAC`,
	} {
		if err := (miniapi.Config{Authorization: mode}).Validate(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
