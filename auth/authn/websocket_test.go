package authn

import (
	"encoding/base64"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
)

func TestTokensAsSubprotocols(t *testing.T) {
	users := &StaticTokens{}
	users.Add("secret", authenticationv1.UserInfo{Username: "jane"})
	authenticate := WebSocketBearer(AnyOf(forAudiences(api, users.Identify)), api...)
	protocol := func(token string) string {
		return "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(token))
	}
	for _, tc := range []struct {
		rule, upgrade, protocols string
		ok                       bool
		err, left                string
	}{
		{"a known token", "websocket", protocol("secret") + ", v4.channel.k8s.io", true, "", "v4.channel.k8s.io"},
		{"no upgrade", "", protocol("secret") + ", a", false, "", protocol("secret") + ", a"},
		{"no token", "websocket", "a, b", false, "", "a, b"},
		{"an unknown token", "websocket", protocol("x") + ",a", false, "invalid bearer token", protocol("x") + ",a"},
		{"the token alone", "websocket", protocol("secret"), false, "missing additional subprotocol", protocol("secret")},
		{"two tokens", "websocket", protocol("secret") + "," + protocol("secret") + ",a", false, "multiple base64.bearer.authorization tokens specified",
			protocol("secret") + "," + protocol("secret") + ",a"},
		{"another encoding", "websocket", tokenProtocol + "?,a", false, "invalid base64.bearer.authorization token encoding", tokenProtocol + "?,a"},
		{"no UTF-8", "websocket", protocol("\xff") + ",a", false, "invalid base64.bearer.authorization token", protocol("\xff") + ",a"},
	} {
		r := request("Upgrade", tc.upgrade, "Sec-WebSocket-Protocol", tc.protocols)
		user, ok, err := authenticate(r)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if ok != tc.ok || ok && user.Username != "jane" || text != tc.err || r.Header.Get("Sec-WebSocket-Protocol") != tc.left {
			t.Errorf("%s: got %v, %v, %v, subprotocols %q", tc.rule, user, ok, err, r.Header.Get("Sec-WebSocket-Protocol"))
		}
	}
}
