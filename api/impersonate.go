package api

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

	"github.com/miniapi/miniapi/registry"
)

// impersonate lets who may do so act as somebody else, named in the headers
// Impersonate-User, -Uid, -Group and -Extra-*. Each value needs the verb
// impersonate.
func (s *Server) impersonate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wanted, err := impersonated(r.Header)
		if err == nil && wanted == nil {
			next.ServeHTTP(w, r)
			return
		}
		if err == nil {
			err = s.checkImpersonation(r.Context(), wanted)
		}
		if err != nil {
			s.forbid(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(registry.WithUser(r.Context(), completed(wanted))))
	})
}

// impersonated returns who the headers name, nil if they name nobody.
func impersonated(h http.Header) (*authenticationv1.UserInfo, error) {
	wanted := &authenticationv1.UserInfo{
		Username: h.Get(authenticationv1.ImpersonateUserHeader),
		UID:      h.Get(authenticationv1.ImpersonateUIDHeader),
		Groups:   slices.Clone(h.Values(authenticationv1.ImpersonateGroupHeader)),
	}
	for header, values := range h {
		key, ok := strings.CutPrefix(header, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		if wanted.Extra == nil {
			wanted.Extra = map[string]authenticationv1.ExtraValue{}
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		wanted.Extra[key] = append(wanted.Extra[key], values...)
	}
	if wanted.Username != "" {
		return wanted, nil
	}
	if wanted.UID != "" || len(wanted.Groups) > 0 || wanted.Extra != nil {
		return nil, nameless(wanted)
	}
	return nil, nil
}

// nameless is the 400 for parts of an identity without a name. kube-apiserver
// shows the Go struct that it has made of them.
func nameless(wanted *authenticationv1.UserInfo) error {
	shown := &user.DefaultInfo{UID: wanted.UID, Groups: wanted.Groups}
	for key, values := range wanted.Extra {
		if shown.Extra == nil {
			shown.Extra = map[string][]string{}
		}
		shown.Extra[key] = values
	}
	return apierrors.NewBadRequest(fmt.Sprintf("requested %#v without impersonating a user name", shown))
}

// checkImpersonation asks for each part of another identity.
func (s *Server) checkImpersonation(ctx context.Context, wanted *authenticationv1.UserInfo) error {
	name := authorizationv1.ResourceAttributes{Version: "v1", Resource: "users", Name: wanted.Username}
	if namespace, account, ok := serviceAccountOf(wanted.Username); ok {
		name.Resource, name.Namespace, name.Name = "serviceaccounts", namespace, account
	}
	parts := []authorizationv1.ResourceAttributes{name}
	if wanted.UID != "" {
		parts = append(parts, authorizationv1.ResourceAttributes{
			Group: authenticationv1.GroupName, Version: "v1", Resource: "uids", Name: wanted.UID,
		})
	}
	for _, group := range wanted.Groups {
		parts = append(parts, authorizationv1.ResourceAttributes{Version: "v1", Resource: "groups", Name: group})
	}
	for _, key := range slices.Sorted(maps.Keys(wanted.Extra)) {
		for _, value := range wanted.Extra[key] {
			parts = append(parts, authorizationv1.ResourceAttributes{
				Group: authenticationv1.GroupName, Version: "v1", Resource: "userextras", Subresource: key, Name: value,
			})
		}
	}
	for i := range parts {
		parts[i].Verb = "impersonate"
		if err := s.authorize(ctx, registry.Access{User: registry.UserFrom(ctx), Resource: &parts[i]}); err != nil {
			return err
		}
	}
	return nil
}

// completed adds the groups that everybody of this kind is in.
func completed(who *authenticationv1.UserInfo) *authenticationv1.UserInfo {
	const authenticated, unauthenticated = "system:authenticated", "system:unauthenticated"
	if namespace, _, ok := serviceAccountOf(who.Username); ok && len(who.Groups) == 0 {
		who.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	group := authenticated
	if who.Username == "system:anonymous" {
		group = unauthenticated
	}
	if !slices.Contains(who.Groups, group) && !slices.Contains(who.Groups, unauthenticated) {
		who.Groups = append(who.Groups, group)
	}
	return who
}

// serviceAccountOf takes system:serviceaccount:NAMESPACE:NAME apart.
func serviceAccountOf(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && namespace != "" && name != "" && !strings.Contains(name, ":")
}
