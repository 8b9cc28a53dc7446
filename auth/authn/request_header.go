package authn

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// RequestHeaders configures the authentication of users by a front proxy, which sends the user in
// headers. The fields are the flags --requestheader-* of kube-apiserver.
type RequestHeaders struct {
	// ClientCAFile has the CAs of front proxies. Empty: no front proxy is trusted.
	ClientCAFile string
	// AllowedNames are the common names of front proxies. Empty: any.
	AllowedNames []string
	// UsernameHeaders and UIDHeaders are the headers with the user; the first one with a value
	// counts. All values of GroupHeaders are groups.
	UsernameHeaders, UIDHeaders, GroupHeaders []string
	// ExtraHeaderPrefixes are the prefixes of headers with extra fields of the user.
	ExtraHeaderPrefixes []string
}

// Authenticator returns an Authenticator of the users that a front proxy names. certificates
// authenticates the front proxy. The headers are removed from every request, so that later handlers
// cannot confuse them with authenticated ones.
func (h RequestHeaders) Authenticator(certificates Authenticator) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		user := h.user(r.Header)
		h.remove(r.Header)
		if user == nil {
			return nil, false, nil
		}
		proxy, ok, err := certificates(r)
		if !ok || err != nil {
			return nil, false, err
		}
		if len(h.AllowedNames) > 0 && !slices.Contains(h.AllowedNames, proxy.Username) {
			return nil, false, nil
		}
		return user, true, nil
	}
}

// user returns the user in the headers, nil without one.
func (h RequestHeaders) user(header http.Header) *authenticationv1.UserInfo {
	name := first(header, h.UsernameHeaders)
	if name == "" {
		return nil
	}
	user := &authenticationv1.UserInfo{Username: name, UID: first(header, h.UIDHeaders)}
	for _, key := range h.GroupHeaders {
		for _, group := range header.Values(key) {
			if group != "" {
				user.Groups = append(user.Groups, group)
			}
		}
	}
	for _, prefix := range h.ExtraHeaderPrefixes {
		for key, values := range header {
			extra, ok := cutPrefixFold(key, prefix)
			if !ok {
				continue
			}
			if user.Extra == nil {
				user.Extra = map[string]authenticationv1.ExtraValue{}
			}
			extra = strings.ToLower(extra)
			if unescaped, err := url.PathUnescape(extra); err == nil {
				extra = unescaped
			}
			user.Extra[extra] = append(user.Extra[extra], values...)
		}
	}
	return user
}

func (h RequestHeaders) remove(header http.Header) {
	for _, key := range slices.Concat(h.UsernameHeaders, h.UIDHeaders, h.GroupHeaders) {
		header.Del(key)
	}
	for _, prefix := range h.ExtraHeaderPrefixes {
		for key := range header {
			if _, ok := cutPrefixFold(key, prefix); ok {
				delete(header, key)
			}
		}
	}
}

func first(header http.Header, keys []string) string {
	for _, key := range keys {
		if value := header.Get(key); value != "" {
			return value
		}
	}
	return ""
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
