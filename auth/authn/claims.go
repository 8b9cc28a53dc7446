package authn

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/miniapi/miniapi/registry"
)

// standardClaims are the claims of RFC 7519.
type standardClaims struct {
	Issuer    string       `json:"iss,omitempty"`
	Subject   string       `json:"sub,omitempty"`
	Audience  audiences    `json:"aud,omitempty"`
	ExpiresAt *numericDate `json:"exp,omitempty"`
	NotBefore *numericDate `json:"nbf,omitempty"`
	IssuedAt  *numericDate `json:"iat,omitempty"`
	ID        string       `json:"jti,omitempty"`
}

// claims is the payload of a token that Issue returns.
type claims struct {
	standardClaims
	Kubernetes kubernetesClaims `json:"kubernetes.io"`
}

type kubernetesClaims struct {
	Namespace      string     `json:"namespace,omitempty"`
	Node           *reference `json:"node,omitempty"`
	Pod            *reference `json:"pod,omitempty"`
	Secret         *reference `json:"secret,omitempty"`
	ServiceAccount reference  `json:"serviceaccount"`
	// ValidatingWebhook and MutatingWebhook are objects that this server does not bind tokens to.
	ValidatingWebhook *reference `json:"validatingwebhookconfiguration,omitempty"`
	MutatingWebhook   *reference `json:"mutatingwebhookconfiguration,omitempty"`
	// WarnAfter is the time after which the client should have a newer token.
	WarnAfter *numericDate `json:"warnafter,omitempty"`
}

type reference struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

func referenceTo(object *registry.TokenObject) *reference {
	if object == nil {
		return nil
	}
	return &reference{Name: object.Name, UID: object.UID}
}

func warnAfter(request *registry.TokenClaims) *numericDate {
	if request.WarnAfter == 0 {
		return nil
	}
	date := numericDate(request.IssuedAt.Add(request.WarnAfter).Unix())
	return &date
}

// numericDate is a time in seconds since 1970.
type numericDate int64

func (d numericDate) time() time.Time { return time.Unix(int64(d), 0) }

// UnmarshalJSON implements json.Unmarshaler. Fractions of a second are dropped.
func (d *numericDate) UnmarshalJSON(data []byte) error {
	seconds, err := strconv.ParseFloat(string(data), 64)
	if err != nil {
		return errors.New("go-jose/go-jose/jwt: expected number value to unmarshal NumericDate")
	}
	*d = numericDate(seconds)
	return nil
}

// audiences is a list of audiences. A single one may be a string.
type audiences []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audiences) UnmarshalJSON(data []byte) error {
	err := json.Unmarshal(data, (*[]string)(a))
	if err == nil && *a != nil {
		return nil
	}
	var single *string
	if err := json.Unmarshal(data, &single); err != nil || single == nil {
		return errors.New("go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience")
	}
	*a = audiences{*single}
	return nil
}
