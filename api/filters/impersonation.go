package filters

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/metrics"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// WithImpersonation replaces the user of a request by the user in the headers Impersonate-User,
// -Uid, -Group and -Extra-*. The user of the request needs the verb impersonate for each value.
func WithImpersonation(authorizer registry.Authorizer, responder *encoding.Responder) Filter {
	return withImpersonation(responder, func(r *http.Request, impersonated *authenticationv1.UserInfo) error {
		parts := impersonationParts(impersonated, "impersonate", "")
		return authorizeParts(r.Context(), authorizer, registry.UserFrom(r.Context()), parts)
	})
}

// WithConstrainedImpersonation is WithImpersonation with the verbs that limit an impersonation to
// kinds of users and of requests, see [impersonationMode].
func WithConstrainedImpersonation(authorizer registry.Authorizer, m *metrics.Impersonation, responder *encoding.Responder) Filter {
	authorizer = m.Authorizer(authorizer)
	return withImpersonation(responder, func(r *http.Request, impersonated *authenticationv1.UserInfo) error {
		started := time.Now()
		mode, err := authorizeConstrained(r.Context(), authorizer, request.AuthorizationAttributes(r), impersonated)
		m.Observe(mode, started, err)
		return err
	})
}

func withImpersonation(responder *encoding.Responder, authorize func(*http.Request, *authenticationv1.UserInfo) error) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			impersonated, err := impersonatedUser(r.Header)
			if err == nil && impersonated == nil {
				next.ServeHTTP(w, r)
				return
			}
			if err == nil {
				err = authorize(r, impersonated)
			}
			if err != nil {
				writeForbidden(w, r, responder, err)
				return
			}
			impersonated = addGroups(impersonated)
			request.RecordFrom(r.Context()).SetImpersonatedUser(impersonated.Username)
			request.AuditFrom(r.Context()).SetImpersonatedUser(impersonated)
			next.ServeHTTP(w, r.WithContext(registry.WithUser(r.Context(), impersonated)))
		})
	}
}

// impersonatedUser returns the user that the headers name, or nil if there are no such headers.
func impersonatedUser(h http.Header) (*authenticationv1.UserInfo, error) {
	impersonated := &authenticationv1.UserInfo{
		Username: h.Get(authenticationv1.ImpersonateUserHeader),
		UID:      h.Get(authenticationv1.ImpersonateUIDHeader),
		Groups:   slices.Clone(h.Values(authenticationv1.ImpersonateGroupHeader)),
	}
	for header, values := range h {
		key, ok := strings.CutPrefix(header, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		if impersonated.Extra == nil {
			impersonated.Extra = map[string]authenticationv1.ExtraValue{}
		}
		key = strings.ToLower(key)
		if unescaped, err := url.PathUnescape(key); err == nil {
			key = unescaped
		}
		impersonated.Extra[key] = append(impersonated.Extra[key], values...)
	}
	if impersonated.Username != "" {
		return impersonated, nil
	}
	if impersonated.UID != "" || len(impersonated.Groups) > 0 || impersonated.Extra != nil {
		return nil, missingName(impersonated)
	}
	return nil, nil
}

// missingName returns the 400 for an impersonated user without a name. As in kube-apiserver, its
// text contains the Go syntax of a user.DefaultInfo.
func missingName(impersonated *authenticationv1.UserInfo) error {
	info := &user.DefaultInfo{UID: impersonated.UID, Groups: impersonated.Groups}
	for key, values := range impersonated.Extra {
		if info.Extra == nil {
			info.Extra = map[string][]string{}
		}
		info.Extra[key] = values
	}
	return apierrors.NewBadRequest(fmt.Sprintf("requested %#v without impersonating a user name", info))
}

// impersonationParts returns the attributes of each value of an impersonated user. group is the API
// group of names and groups.
func impersonationParts(impersonated *authenticationv1.UserInfo, verb, group string) []authorizationv1.ResourceAttributes {
	name := authorizationv1.ResourceAttributes{Group: group, Version: "v1", Resource: "users", Name: impersonated.Username}
	if namespace, account, ok := splitServiceAccount(impersonated.Username); ok {
		name.Resource, name.Namespace, name.Name = "serviceaccounts", namespace, account
	}
	parts := []authorizationv1.ResourceAttributes{name}
	if impersonated.UID != "" {
		parts = append(parts, authorizationv1.ResourceAttributes{
			Group: authenticationv1.GroupName, Version: "v1", Resource: "uids", Name: impersonated.UID,
		})
	}
	for _, name := range impersonated.Groups {
		parts = append(parts, authorizationv1.ResourceAttributes{Group: group, Version: "v1", Resource: "groups", Name: name})
	}
	for _, key := range slices.Sorted(maps.Keys(impersonated.Extra)) {
		for _, value := range impersonated.Extra[key] {
			parts = append(parts, authorizationv1.ResourceAttributes{
				Group: authenticationv1.GroupName, Version: "v1", Resource: "userextras", Subresource: key, Name: value,
			})
		}
	}
	for i := range parts {
		parts[i].Verb = verb
	}
	return parts
}

// authorizeParts returns the error of the first part that a user must not impersonate.
func authorizeParts(ctx context.Context, authorizer registry.Authorizer, user *authenticationv1.UserInfo, parts []authorizationv1.ResourceAttributes) error {
	for i := range parts {
		if err := registry.Authorize(ctx, authorizer, registry.Access{User: user, Resource: &parts[i]}); err != nil {
			return err
		}
	}
	return nil
}

// addGroups adds the groups that every user and every service account belongs to.
func addGroups(impersonated *authenticationv1.UserInfo) *authenticationv1.UserInfo {
	const authenticated, unauthenticated = "system:authenticated", "system:unauthenticated"
	if namespace, _, ok := splitServiceAccount(impersonated.Username); ok && len(impersonated.Groups) == 0 {
		impersonated.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	group := authenticated
	if impersonated.Username == "system:anonymous" {
		group = unauthenticated
	}
	if !slices.Contains(impersonated.Groups, group) && !slices.Contains(impersonated.Groups, unauthenticated) {
		impersonated.Groups = append(impersonated.Groups, group)
	}
	return impersonated
}

// splitServiceAccount splits system:serviceaccount:NAMESPACE:NAME. ok is false for other users, and
// for names that no service account or namespace can have.
func splitServiceAccount(username string) (namespace, name string, ok bool) {
	namespace, name, err := serviceaccount.SplitUsername(username)
	return namespace, name, err == nil
}
