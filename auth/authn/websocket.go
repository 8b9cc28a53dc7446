package authn

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	authenticationv1 "k8s.io/api/authentication/v1"
)

const (
	protocolHeader = "Sec-Websocket-Protocol"
	tokenProtocol  = "base64url.bearer.authorization.k8s.io."
)

// WebSocketBearer authenticates a bearer token that a WebSocket client sends as a subprotocol,
// because browsers cannot set the Authorization header. It removes that subprotocol from the
// request.
func WebSocketBearer(identify TokenFunc, audiences ...string) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		if len(r.Header[protocolHeader]) == 0 || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			return nil, false, nil
		}
		token, others, err := splitProtocols(r.Header[protocolHeader])
		if err != nil || token == "" {
			return nil, false, err
		}
		identity, err := identify(r.Context(), token, audiences)
		if err != nil {
			return nil, false, err
		}
		r.Header.Set(protocolHeader, strings.Join(others, ","))
		return identity.User, true, nil
	}
}

// splitProtocols returns the token and the other subprotocols. One of them has to be left, because
// the server answers with it.
func splitProtocols(headers []string) (token string, others []string, err error) {
	tokens := 0
	for _, name := range strings.Split(strings.Join(headers, ","), ",") {
		name = strings.TrimSpace(name)
		encoded, ok := strings.CutPrefix(name, tokenProtocol)
		if !ok {
			others = append(others, name)
			continue
		}
		decoded, err := base64.RawURLEncoding.DecodeString(encoded)
		switch tokens++; {
		case tokens > 1:
			return "", nil, errors.New("multiple base64.bearer.authorization tokens specified")
		case err != nil:
			return "", nil, errors.New("invalid base64.bearer.authorization token encoding")
		case !utf8.Valid(decoded):
			return "", nil, errors.New("invalid base64.bearer.authorization token")
		}
		token = string(decoded)
	}
	if token != "" && len(others) == 0 {
		return "", nil, errors.New("missing additional subprotocol")
	}
	return token, others, nil
}
