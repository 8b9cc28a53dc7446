package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
)

// OpenID is how others find out what they need to check the tokens of service
// accounts, as OpenID Connect Discovery 1.0 has it: two documents in JSON.
type OpenID struct {
	Configuration, Keys []byte
}

// OpenID returns the documents, the second of which is served at keysURL. Others
// accept no issuer that is not an https URL: for such a one it fails.
func (s *ServiceAccounts) OpenID(keysURL string) (*OpenID, error) {
	issuer, err := url.Parse(s.config.Issuers[0])
	if err != nil {
		return nil, fmt.Errorf("issuer of tokens: %w", err)
	}
	if issuer.Scheme != "https" || issuer.RawQuery != "" || issuer.Fragment != "" {
		return nil, fmt.Errorf("issuer of tokens %q is not an https URL without query and fragment", issuer)
	}
	var set struct {
		Keys []jsonWebKey `json:"keys"`
	}
	var algorithms []string
	for _, key := range s.config.VerificationKeys {
		described, err := describeKey(key)
		if err != nil {
			return nil, err
		}
		set.Keys = append(set.Keys, described)
		algorithms = append(algorithms, described.Algorithm)
	}
	slices.Sort(algorithms)
	configuration, err := json.Marshal(openIDConfiguration{
		Issuer:        s.config.Issuers[0],
		KeysURL:       keysURL,
		ResponseTypes: []string{"id_token"},
		SubjectTypes:  []string{"public"},
		Algorithms:    slices.Compact(algorithms),
	})
	if err != nil {
		return nil, err
	}
	keys, err := json.Marshal(set)
	return &OpenID{configuration, keys}, err
}

type openIDConfiguration struct {
	Issuer        string   `json:"issuer"`
	KeysURL       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

// jsonWebKey is a public key as RFC 7517 and RFC 7518 write it.
type jsonWebKey struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Curve     string `json:"crv,omitempty"`
	Algorithm string `json:"alg"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
	Modulus   string `json:"n,omitempty"`
	Exponent  string `json:"e,omitempty"`
}

func describeKey(public crypto.PublicKey) (jsonWebKey, error) {
	method, err := methodOf(public)
	if err != nil {
		return jsonWebKey{}, err
	}
	id, err := keyID(public)
	if err != nil {
		return jsonWebKey{}, err
	}
	described := jsonWebKey{Use: "sig", ID: id, Algorithm: method.Alg()}
	encode := base64.RawURLEncoding.EncodeToString
	switch key := public.(type) {
	case *rsa.PublicKey:
		described.Type = "RSA"
		described.Modulus = encode(key.N.Bytes())
		described.Exponent = encode(big.NewInt(int64(key.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := key.Bytes() // 4, then both coordinates at full length
		if err != nil {
			return jsonWebKey{}, err
		}
		half := 1 + len(point)/2
		described.Type, described.Curve = "EC", key.Params().Name
		described.X, described.Y = encode(point[1:half]), encode(point[half:])
	}
	return described, nil
}
