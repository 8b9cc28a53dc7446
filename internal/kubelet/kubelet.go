// Package kubelet has the rules that the authorizer of nodes and the admission plugin
// NodeRestriction share: which users are nodes, and which objects the pods of a node refer to.
package kubelet

import (
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// UserPrefix begins the names of users that are nodes.
const UserPrefix = "system:node:"

// NodeOf returns the name of the node that a user is. It is empty if the user does not name it. ok
// is false for users that are not nodes.
func NodeOf(user *authenticationv1.UserInfo) (name string, ok bool) {
	if user == nil || !slices.Contains(user.Groups, "system:nodes") {
		return "", false
	}
	return strings.CutPrefix(user.Username, UserPrefix)
}
