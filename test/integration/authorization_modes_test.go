package integration_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

func TestAuthorizationModes(t *testing.T) {
	for mode, want := range map[miniapi.AuthorizationMode]string{ // the error; "" if everything is allowed
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

// A rejected request of a node names the remedy: bind a role to the nodes.
func TestNodesAreAuthorizedByRoles(t *testing.T) {
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

// The escalation check of RBAC accepts the verb escalate from any authorization mode.
func TestEscalationIsDecidedByAllModes(t *testing.T) {
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

func TestInvalidAuthorizationModes(t *testing.T) {
	for mode, want := range map[miniapi.AuthorizationMode]string{
		"rbac":           `authorization mode "rbac" is unknown: use AlwaysAllow, AlwaysDeny, RBAC or Node: did you mean "RBAC"?`,
		"Node,":          `authorization mode "" is unknown: use AlwaysAllow, AlwaysDeny, RBAC or Node`,
		"Node, RBAC":     `authorization mode " RBAC" is unknown: use AlwaysAllow, AlwaysDeny, RBAC or Node: did you mean "RBAC"?`,
		"RBAC,Node,RBAC": `authorization mode "RBAC" occurs twice in "RBAC,Node,RBAC": remove one`,
		"Webhook":        `authorization mode "Webhook" is not supported: use RBAC, and grant rights by roles`,
		"ABAC":           `authorization mode "ABAC" is not supported: use RBAC, and grant rights by roles`,
	} {
		if err := (miniapi.Config{Authorization: mode}).Validate(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
