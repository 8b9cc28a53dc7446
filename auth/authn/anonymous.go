package authn

import (
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// anonymous returns the authenticator of requests without credentials. The file of OIDC decides, if
// it configures them, and may limit them to paths.
func (config Config) anonymous() (Authenticator, error) {
	enabled, paths := config.AllowAnonymous, []string(nil)
	file, err := config.OIDC.Anonymous()
	if err != nil {
		return nil, err
	}
	if file != nil {
		enabled = file.Enabled
		for _, condition := range file.Conditions {
			paths = append(paths, condition.Path)
		}
	}
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		if !enabled || len(paths) > 0 && !slices.Contains(paths, r.URL.Path) {
			return nil, false, nil
		}
		return &authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{unauthenticatedGroup}}, true, nil
	}, nil
}
