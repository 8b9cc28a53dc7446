package filters

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// WithImpersonation replaces the user of a request by the user in the headers Impersonate-User,
// -Uid, -Group and -Extra-*. The user of the request needs the verb impersonate for each value.
func WithImpersonation(authorizer registry.Authorizer, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			impersonated, err := impersonatedUser(r.Header)
			if err == nil && impersonated == nil {
				next.ServeHTTP(w, r)
				return
			}
			if err == nil {
				err = authorizeImpersonation(r.Context(), authorizer, impersonated)
			}
			if err != nil {
				writeForbidden(w, r, responder, err)
				return
			}
			request.RecordFrom(r.Context()).SetImpersonatedUser(impersonated.Username)
			next.ServeHTTP(w, r.WithContext(registry.WithUser(r.Context(), addGroups(impersonated))))
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

// authorizeImpersonation returns the error of the first part of the impersonated user that the
// user in ctx must not impersonate.
func authorizeImpersonation(ctx context.Context, authorizer registry.Authorizer, impersonated *authenticationv1.UserInfo) error {
	name := authorizationv1.ResourceAttributes{Version: "v1", Resource: "users", Name: impersonated.Username}
	if namespace, account, ok := splitServiceAccount(impersonated.Username); ok {
		name.Resource, name.Namespace, name.Name = "serviceaccounts", namespace, account
	}
	parts := []authorizationv1.ResourceAttributes{name}
	if impersonated.UID != "" {
		parts = append(parts, authorizationv1.ResourceAttributes{
			Group: authenticationv1.GroupName, Version: "v1", Resource: "uids", Name: impersonated.UID,
		})
	}
	for _, group := range impersonated.Groups {
		parts = append(parts, authorizationv1.ResourceAttributes{Version: "v1", Resource: "groups", Name: group})
	}
	for _, key := range slices.Sorted(maps.Keys(impersonated.Extra)) {
		for _, value := range impersonated.Extra[key] {
			parts = append(parts, authorizationv1.ResourceAttributes{
				Group: authenticationv1.GroupName, Version: "v1", Resource: "userextras", Subresource: key, Name: value,
			})
		}
	}
	for i := range parts {
		parts[i].Verb = "impersonate"
		if err := registry.Authorize(ctx, authorizer, registry.Access{User: registry.UserFrom(ctx), Resource: &parts[i]}); err != nil {
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

// splitServiceAccount splits system:serviceaccount:NAMESPACE:NAME. ok is false for other users.
func splitServiceAccount(username string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(username, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && namespace != "" && name != "" && !strings.Contains(name, ":")
}
