package authn

import (
	"context"

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

// Identify implements registry.Tokens.
func (t Tokens) Identify(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	return t.Any(ctx, token, audiences)
}
