package oidc

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	upstream "k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"github.com/miniapi/miniapi/internal/configfile"
	"github.com/miniapi/miniapi/internal/outgoing"
)

// Config names the accepted issuers. The zero value accepts none.
type Config struct {
	// File is the path of an AuthenticationConfiguration of apiserver.config.k8s.io.
	File string
	// Flags describes one issuer, instead of File.
	Flags Flags
	// DisallowedIssuers are the issuers of service account tokens.
	DisallowedIssuers []string
	// Timeout limits a request to an issuer, with its response. Default: 10 s.
	Timeout time.Duration
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
	// Logger takes the reloads of File. It must not be nil with File.
	Logger *slog.Logger
}

// Flags describes an issuer by the flags --oidc-* of kube-apiserver.
type Flags struct {
	// IssuerURL is the https URL of the issuer, ClientID the audience of its tokens.
	IssuerURL, ClientID string
	// CAFile holds the CAs of the issuer. Default: the CAs of the system.
	CAFile string
	// UsernameClaim is the claim with the user name. Default: sub.
	UsernameClaim string
	// UsernamePrefix precedes user names; "-" is no prefix. Default: IssuerURL and "#", or no
	// prefix if UsernameClaim is email.
	UsernamePrefix string
	// GroupsClaim is the claim with the groups. Default: no groups. GroupsPrefix precedes them.
	GroupsClaim, GroupsPrefix string
	// SigningAlgs are the accepted algorithms of signatures. Default: RS256.
	SigningAlgs []string
	// RequiredClaims are claims and their required values.
	RequiredClaims map[string]string
}

func (f Flags) empty() bool {
	return f.IssuerURL+f.ClientID+f.CAFile+f.UsernameClaim+f.UsernamePrefix+f.GroupsClaim+f.GroupsPrefix == "" &&
		len(f.SigningAlgs) == 0 && len(f.RequiredClaims) == 0
}

// Enabled reports whether a file or an issuer is configured.
func (c Config) Enabled() bool { return c.File != "" || !c.Flags.empty() }

// Validate returns all errors of the configuration, nil if it is valid. It loads the files.
func (c Config) Validate() error {
	if c.File != "" && !c.Flags.empty() {
		return errors.New("authentication-config file and oidc-* flags are mutually exclusive")
	}
	if !c.Enabled() {
		return nil
	}
	_, err := c.load()
	return err
}

// Anonymous returns how anonymous requests are authenticated, nil if the file does not say.
func (c Config) Anonymous() (*apiserver.AnonymousAuthConfig, error) {
	if c.File == "" {
		return nil, nil
	}
	config, err := c.load()
	if err != nil {
		return nil, err
	}
	return config.Anonymous, nil
}

// load returns the valid configuration of the file or the flags.
func (c Config) load() (*apiserver.AuthenticationConfiguration, error) {
	config, err := c.source()
	if err != nil {
		return nil, err
	}
	errs := validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), config, c.DisallowedIssuers)
	for i, authenticator := range config.JWT {
		if authenticator.Issuer.EgressSelectorType != "" {
			path := field.NewPath("jwt").Index(i).Child("issuer", "egressSelectorType")
			errs = append(errs, field.Forbidden(path, "egress selectors are not supported: remove the field"))
		}
	}
	if err := errs.ToAggregate(); err != nil {
		return nil, fmt.Errorf("invalid authentication configuration: %w", err)
	}
	return config, nil
}

func (c Config) source() (*apiserver.AuthenticationConfiguration, error) {
	if c.File == "" {
		authenticator, err := c.Flags.authenticator()
		return &apiserver.AuthenticationConfiguration{JWT: []apiserver.JWTAuthenticator{authenticator}}, err
	}
	config, err := configfile.Load[*apiserver.AuthenticationConfiguration](c.File)
	if err != nil {
		return nil, fmt.Errorf("--authentication-config: %w", err)
	}
	return config, nil
}

func (c Config) timeout() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }

// algorithms returns the accepted algorithms of signatures: with a file, all safe ones.
func (c Config) algorithms() []string {
	if c.File != "" {
		return upstream.AllValidSigningAlgorithms()
	}
	return c.Flags.SigningAlgs
}

// authenticator returns the configuration that is equal to the flags.
func (f Flags) authenticator() (apiserver.JWTAuthenticator, error) {
	if f.IssuerURL == "" || f.ClientID == "" {
		return apiserver.JWTAuthenticator{}, errors.New("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
	}
	valid := upstream.AllValidSigningAlgorithms()
	for _, algorithm := range f.SigningAlgs {
		if !slices.Contains(valid, algorithm) {
			return apiserver.JWTAuthenticator{}, fmt.Errorf("--oidc-signing-algs: unsupported signing alg: %q: use %s", algorithm, strings.Join(valid, ", "))
		}
	}
	claim, prefix := f.UsernameClaim, f.UsernamePrefix
	if claim == "" {
		claim = "sub"
	}
	switch {
	case prefix == "-":
		prefix = ""
	case prefix == "" && claim != "email":
		prefix = f.IssuerURL + "#"
	}
	out := apiserver.JWTAuthenticator{
		Issuer:        apiserver.Issuer{URL: f.IssuerURL, Audiences: []string{f.ClientID}},
		ClaimMappings: apiserver.ClaimMappings{Username: apiserver.PrefixedClaimOrExpression{Claim: claim, Prefix: &prefix}},
	}
	if f.GroupsClaim != "" {
		out.ClaimMappings.Groups = apiserver.PrefixedClaimOrExpression{Claim: f.GroupsClaim, Prefix: &f.GroupsPrefix}
	}
	for _, claim := range slices.Sorted(maps.Keys(f.RequiredClaims)) {
		out.ClaimValidationRules = append(out.ClaimValidationRules, apiserver.ClaimValidationRule{Claim: claim, RequiredValue: f.RequiredClaims[claim]})
	}
	if f.CAFile == "" {
		return out, nil
	}
	data, err := os.ReadFile(f.CAFile)
	if err != nil {
		return out, fmt.Errorf("--oidc-ca-file: %w", err)
	}
	out.Issuer.CertificateAuthority = string(data)
	return out, nil
}
