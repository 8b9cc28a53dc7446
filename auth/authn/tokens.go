package authn

import (
	"context"
	"strings"
	"unicode"

	"github.com/miniapi/miniapi/registry"
)

// Tokens implements registry.Tokens. It issues service account tokens and reviews tokens of all
// kinds.
type Tokens struct {
	*ServiceAccounts
	// Any identifies tokens of all kinds.
	Any TokenFunc
}

var _ registry.Tokens = Tokens{}

// Audiences implements registry.Tokens. It returns the issuers.
func (t Tokens) Audiences() []string { return t.config.Issuers }

// Identify implements registry.Tokens. As in kube-apiserver, the token is read as if it stood in
// the Authorization header, and the request of the review receives neither its warnings nor its
// annotations of the audit log.
func (t Tokens) Identify(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	token, _, _ = strings.Cut(strings.TrimRightFunc(token, unicode.IsSpace), " ")
	if token == "" {
		return nil, errInvalidToken
	}
	ctx, _ = registry.WithWarnings(ctx)
	ctx, _ = registry.WithAuditAnnotations(ctx)
	return t.Any(ctx, token, audiences)
}
