package authn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	kjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/registry"
)

// Errors of tokens, in the words of kube-apiserver.
var (
	errUnknownKey = errors.New("invalid signature, no keys found")
	errSignature  = errors.New("go-jose/go-jose: error in cryptographic primitive")
)

// algorithms are the signature algorithms of RSA and ECDSA keys.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"}

// signedToken is a JSON Web Token in compact serialization whose signature is not verified.
type signedToken struct {
	header struct {
		Algorithm string   `json:"alg"`
		KeyID     string   `json:"kid"`
		Critical  []string `json:"crit"`
	}
	payload       []byte
	signature     []byte
	signingString string
}

// parseToken returns false if a text is not a token. Whitespace is ignored.
func parseToken(text string) (*signedToken, bool) {
	var parts [3][]byte
	encoded := strings.Split(strings.Join(strings.Fields(text), ""), ".")
	if len(encoded) != len(parts) {
		return nil, false
	}
	for i := range parts {
		var err error
		if parts[i], err = base64.RawURLEncoding.DecodeString(encoded[i]); err != nil {
			return nil, false
		}
	}
	token := &signedToken{payload: parts[1], signature: parts[2]}
	if decodeClaims(parts[0], &token.header) != nil {
		return nil, false
	}
	encode := base64.RawURLEncoding.EncodeToString
	token.signingString = encode(parts[0]) + "." + encode(parts[1])
	return token, true
}

// unverifiedIssuer returns the issuer that a text names, "" if it is not a token or names none.
func unverifiedIssuer(text string) string {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var content struct {
		Issuer string `json:"iss"`
	}
	if err := json.Unmarshal(payload, &content); err != nil {
		return ""
	}
	return content.Issuer
}

// verify checks the signature of a token with the keys that have the id in its header, with all
// keys if it has no id, and decodes its claims.
func (s *ServiceAccounts) verify(token *signedToken, content any) error {
	keys, err := s.keys()
	if err != nil {
		return err
	}
	candidates := keys.public
	if id := token.header.KeyID; id != "" {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(key publicKey) bool { return key.id != id })
	}
	if len(candidates) == 0 {
		return errUnknownKey
	}
	if !slices.ContainsFunc(candidates, token.isSignedBy) {
		return errSignature
	}
	return decodeClaims(token.payload, content)
}

// decodeClaims decodes the header or the payload of a token. Names are case-sensitive, and repeated
// names are an error.
func decodeClaims(data []byte, content any) error {
	duplicates, err := kjson.UnmarshalStrict(data, content, kjson.DisallowDuplicateFields)
	return errors.Join(append(duplicates, err)...)
}

// isSignedBy reports whether a key has signed the token. A token with a critical extension is not
// valid for servers that do not support the extension.
func (t *signedToken) isSignedBy(key publicKey) bool {
	if len(t.header.Critical) > 0 || !slices.Contains(algorithms, t.header.Algorithm) {
		return false
	}
	return jwt.GetSigningMethod(t.header.Algorithm).Verify(t.signingString, t.signature, key.key) == nil
}

// acceptedAudiences returns the requested audiences that a token is valid for. A token without
// audiences is valid for the audiences of the server.
func (s *ServiceAccounts) acceptedAudiences(content *standardClaims, requested []string) ([]string, error) {
	audiences := []string(content.Audience)
	if len(audiences) == 0 {
		audiences = s.config.Issuers
	}
	accepted := intersection(audiences, requested)
	if len(accepted) == 0 {
		return nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", audiences, requested)
	}
	return accepted, nil
}

// accepted counts a valid token. It adds the annotations of one that has no audience or is stale to
// the audit log.
func (s *ServiceAccounts) accepted(ctx context.Context, content *standardClaims, warnAfter *numericDate, now time.Time) {
	if len(content.Audience) == 0 {
		s.metrics.legacy.Inc()
		registry.AddAuditAnnotation(ctx, "authentication.k8s.io/legacy-token", content.Subject)
	}
	switch {
	case warnAfter == nil || *warnAfter == 0:
	case now.After(warnAfter.time()):
		s.metrics.stale.Inc()
		registry.AddAuditAnnotation(ctx, "authentication.k8s.io/stale-token", fmt.Sprintf(
			"subject: %s, seconds after warning threshold: %d", content.Subject, now.Unix()-int64(*warnAfter)))
	default:
		s.metrics.valid.Inc()
	}
}

// intersection returns the requested values that are among the accepted ones, in the order of the
// request.
func intersection(accepted, requested []string) []string {
	return slices.DeleteFunc(slices.Clone(requested), func(value string) bool { return !slices.Contains(accepted, value) })
}

// checkTimes checks the times of a token. A time that it does not contain is not checked.
func checkTimes(content *standardClaims, now time.Time) error {
	isLater := func(date *numericDate) bool { return date != nil && now.Add(leeway).Before(date.time()) }
	switch expiry := content.ExpiresAt; {
	case isLater(content.NotBefore):
		return errors.New("service account token is not valid yet")
	case expiry != nil && now.Add(-leeway).After(expiry.time()):
		return errors.New("service account token has expired")
	case isLater(content.IssuedAt):
		return errors.New("service account token is issued in the future")
	default:
		return nil
	}
}
