package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/auth/rbac"
	"github.com/miniapi/miniapi/internal/kubelet"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Config configures an Authorizer.
type Config struct {
	// Store finds the stores of pods, volumes and claims.
	Store    func(schema.GroupResource) (*registry.Store, bool)
	Features *feature.Set
}

// Authorizer implements registry.Authorizer. It has no opinion on users that are not nodes, and on
// requests that it does not allow.
type Authorizer struct {
	config Config
	common []rbacv1.PolicyRule
}

var _ registry.Authorizer = (*Authorizer)(nil)

// New returns an Authorizer.
func New(config Config) *Authorizer {
	return &Authorizer{config: config, common: commonRules(config.Features)}
}

// Rules implements registry.Authorizer.
func (a *Authorizer) Rules(_ context.Context, user *authenticationv1.UserInfo, _ string) (registry.RuleSet, error) {
	if _, ok := kubelet.NodeOf(user); !ok {
		return registry.RuleSet{}, nil
	}
	return registry.RuleSet{Incomplete: true}, errors.New("node authorizer does not support user rule resolution")
}

// Authorize implements registry.Authorizer.
func (a *Authorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	node, ok := kubelet.NodeOf(access.User)
	switch {
	case !ok:
		return registry.Decision{}, nil
	case node == "":
		return no("unknown node for user %q", access.User.Username)
	}
	if access.Resource != nil {
		if authorize, ok := rules[schema.GroupResource{Group: access.Resource.Group, Resource: access.Resource.Resource}]; ok {
			return authorize(request{ctx: ctx, authorizer: a, node: node, ResourceAttributes: access.Resource})
		}
	}
	return registry.Decision{Allowed: rbac.AnyAllows(a.common, access)}, nil
}

// request is a request of a node for a resource.
type request struct {
	ctx        context.Context
	authorizer *Authorizer
	node       string
	*authorizationv1.ResourceAttributes
}

// rules are the rules of resources that differ between nodes.
var rules = map[schema.GroupResource]func(request) (registry.Decision, error){
	secrets:                request.readNamespaced,
	configMaps:             request.readNamespaced,
	persistentVolumeClaims: request.claim,
	persistentVolumes:      request.get,
	resourceClaims:         request.get,
	volumeAttachments:      request.get,
	serviceAccounts:        request.serviceAccount,
	leases:                 request.lease,
	csiNodes:               request.csiNode,
	resourceSlices:         request.slice,
	nodes:                  request.ownNode,
	pods:                   request.pod,
	certificateRequests:    request.certificateRequest,
}

func allow() (registry.Decision, error) { return registry.Decision{Allowed: true}, nil }

// no returns a decision without an opinion.
func no(format string, args ...any) (registry.Decision, error) {
	return registry.Decision{Reason: fmt.Sprintf(format, args...)}, nil
}

// related allows access to an object that the node or its pods refer to.
func (r request) related() (registry.Decision, error) {
	if r.Name == "" {
		return no("No Object name found")
	}
	object := schema.GroupResource{Group: r.Group, Resource: r.Resource}
	for _, version := range []string{"0", ""} {
		g := graph{ctx: r.ctx, store: r.authorizer.config.Store, resourceVersion: version, node: r.node}
		found, err := g.reaches(object, r.Namespace, r.Name)
		if err != nil {
			return registry.Decision{}, err
		}
		if found {
			return allow()
		}
	}
	return no("no relationship found between node '%s' and this object", r.node)
}

func (r request) verbIs(verbs ...string) bool { return slices.Contains(verbs, r.Verb) }

func (r request) get() (registry.Decision, error) {
	switch {
	case r.Verb != "get":
		return no("can only get individual resources of this type")
	case r.Subresource != "":
		return no("cannot get subresource")
	}
	return r.related()
}

func (r request) readNamespaced() (registry.Decision, error) {
	switch {
	case !r.verbIs("get", "list", "watch"):
		return no("can only read resources of this type")
	case r.Subresource != "":
		return no("cannot read subresource")
	case r.Namespace == "":
		return no("can only read namespaced object of this type")
	}
	return r.related()
}

func (r request) claim() (registry.Decision, error) {
	if r.Subresource != "status" {
		return r.get()
	}
	if !r.verbIs("update", "patch") {
		return no("can only get/update/patch this type")
	}
	return r.related()
}

func (r request) serviceAccount() (registry.Decision, error) {
	features := r.authorizer.config.Features
	switch {
	case r.Verb == "get" && r.Subresource == "":
		if !features.Enabled(feature.KubeletServiceAccountTokenForCredentialProviders) && !features.Enabled(feature.PodCertificateRequest) {
			return no("not allowed to get service accounts")
		}
		return r.readNamespaced()
	case r.Verb != "create" || r.Name == "":
		return no("can only create tokens for individual service accounts")
	case r.Subresource != "token":
		return no("can only create token subresource of serviceaccount")
	}
	return r.related()
}

// lease allows the lease of the node. The name of a new one is not known yet.
func (r request) lease() (registry.Decision, error) {
	switch {
	case !r.verbIs("get", "create", "update", "patch", "delete"):
		return no("can only get, create, update, patch, or delete a node lease")
	case r.Namespace != corev1.NamespaceNodeLease:
		return no("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
	case r.Verb != "create" && r.Name != r.node:
		return no("can only access node lease with the same name as the requesting node")
	}
	return allow()
}

func (r request) csiNode() (registry.Decision, error) {
	switch {
	case r.Subresource == "status" && !r.authorizer.config.Features.Enabled(feature.CSIVolumeHealth):
		return no("CSINode status access requires CSIVolumeHealth feature")
	case r.Subresource == "status" && !r.verbIs("get", "update", "patch"):
		return no("can only get, update, or patch CSINode status")
	case r.Subresource != "status" && r.Subresource != "":
		return no("cannot authorize CSINode subresources")
	case r.Subresource == "" && !r.verbIs("get", "create", "update", "patch", "delete"):
		return no("can only get, create, update, patch, or delete a CSINode")
	case r.Verb != "create" && r.Name != r.node:
		return no("can only access CSINode with the same name as the requesting node")
	}
	return allow()
}

func (r request) slice() (registry.Decision, error) {
	switch {
	case r.Subresource != "":
		return no("cannot authorize ResourceSlice subresources")
	case r.Verb == "create":
		return allow()
	case r.verbIs("get", "update", "patch", "delete"):
		return r.related()
	case !r.verbIs("watch", "list", "deletecollection"):
		return no("only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection")
	case r.selectsNode():
		return allow()
	}
	return no("can only list/watch/deletecollection resourceslices with nodeName field selector")
}

func (r request) certificateRequest() (registry.Decision, error) {
	switch {
	case !r.authorizer.config.Features.Enabled(feature.PodCertificateRequest):
		return registry.Decision{}, nil
	case r.Subresource != "":
		return no("nodes may not access the status subresource of PodCertificateRequests")
	case r.Verb == "create":
		return allow()
	case r.Verb == "get":
		return r.related()
	case !r.verbIs("list", "watch"):
		return no("nodes may not %s podcertificaterequests", r.Verb)
	case r.selectsNode():
		return allow()
	}
	return no("can only list/watch podcertificaterequests with nodeName field selector")
}

// ownNode compares the name only, so that a kubelet can read its node before it exists.
func (r request) ownNode() (registry.Decision, error) {
	switch {
	case r.Subresource == "" && r.verbIs("create", "update", "patch"), r.Subresource == "status" && r.verbIs("update", "patch"):
		return allow()
	case r.Subresource != "" || !r.verbIs("get", "list", "watch"):
		return registry.Decision{}, nil
	case r.Name == "":
		return no("node '%s' cannot read all nodes, only its own Node object", r.node)
	case r.Name != r.node:
		return no("node '%s' cannot read '%s', only its own Node object", r.node, r.Name)
	}
	return allow()
}

func (r request) pod() (registry.Decision, error) {
	switch {
	case r.Subresource == "" && r.verbIs("create", "delete"), // of mirror pods
		r.Subresource == "status" && r.verbIs("update", "patch"),
		r.Subresource == "eviction" && r.Verb == "create":
		return allow()
	case r.Subresource != "":
		return registry.Decision{}, nil
	case r.Verb == "get":
		return r.get()
	case !r.verbIs("list", "watch"):
		return registry.Decision{}, nil
	case r.selectsNode():
		return allow()
	case r.Name != "":
		return r.related()
	}
	return no("can only list/watch pods with spec.nodeName field selector")
}
