package authn

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
)

// OpenID has the JSON documents of OpenID Connect Discovery 1.0, with which other parties verify
// service account tokens. The documents are made on demand, because they need the keys.
type OpenID struct {
	accounts *ServiceAccounts
	keysURL  string
}

// OpenID returns the documents. keysURL is the URL at which Keys is served. It fails unless the
// first issuer is an https URL, because other parties accept no other issuer.
func (s *ServiceAccounts) OpenID(keysURL string) (*OpenID, error) {
	issuer, err := url.Parse(s.config.Issuers[0])
	if err != nil {
		return nil, fmt.Errorf("token issuer: %w", err)
	}
	if issuer.Scheme != "https" || issuer.RawQuery != "" || issuer.Fragment != "" {
		return nil, fmt.Errorf("token issuer %q is not an https URL without query and fragment", issuer)
	}
	return &OpenID{accounts: s, keysURL: keysURL}, nil
}

// Configuration returns the document that names the issuer and the address of the keys.
func (o *OpenID) Configuration() ([]byte, error) {
	set, err := o.keySet()
	if err != nil {
		return nil, err
	}
	var algorithms []string
	for _, key := range set.Keys {
		algorithms = append(algorithms, key.Algorithm)
	}
	slices.Sort(algorithms)
	return json.Marshal(openIDConfiguration{
		Issuer:        o.accounts.config.Issuers[0],
		KeysURL:       o.keysURL,
		ResponseTypes: []string{"id_token"},
		SubjectTypes:  []string{"public"},
		Algorithms:    slices.Compact(algorithms),
	})
}

// Keys returns the set of the keys that verify tokens.
func (o *OpenID) Keys() ([]byte, error) {
	set, err := o.keySet()
	if err != nil {
		return nil, err
	}
	return json.Marshal(set)
}

type jsonWebKeySet struct {
	Keys []jsonWebKey `json:"keys"`
}

func (o *OpenID) keySet() (set jsonWebKeySet, err error) {
	keys, err := o.accounts.keys()
	if err != nil {
		return set, err
	}
	for _, key := range keys.public {
		encoded, err := encodeKey(key)
		if err != nil {
			return set, err
		}
		set.Keys = append(set.Keys, encoded)
	}
	return set, nil
}

type openIDConfiguration struct {
	Issuer        string   `json:"issuer"`
	KeysURL       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

// jsonWebKey is a public key in the format of RFC 7517 and RFC 7518.
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

func encodeKey(public publicKey) (jsonWebKey, error) {
	method, err := signingMethodOf(public.key)
	if err != nil {
		return jsonWebKey{}, err
	}
	encoded := jsonWebKey{Use: "sig", ID: public.id, Algorithm: method.Alg()}
	encode := base64.RawURLEncoding.EncodeToString
	switch key := public.key.(type) {
	case *rsa.PublicKey:
		encoded.Type = "RSA"
		encoded.Modulus = encode(key.N.Bytes())
		encoded.Exponent = encode(big.NewInt(int64(key.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := key.Bytes() // uncompressed: 4, then both coordinates
		if err != nil {
			return jsonWebKey{}, err
		}
		half := 1 + len(point)/2
		encoded.Type, encoded.Curve = "EC", key.Params().Name
		encoded.X, encoded.Y = encode(point[1:half]), encode(point[half:])
	}
	return encoded, nil
}
