package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/miniapi/miniapi"
)

// secureOptions holds the values of the flags for HTTPS and access control. They are named as in
// kube-apiserver.
type secureOptions struct {
	miniapi.Secure
	flags               *pflag.FlagSet
	bindAddress         string
	port                int
	anonymous           bool
	lookup              bool
	authorization       string
	authorizationConfig string
	webhook             miniapi.AuthorizationWebhook
	maxInFlight         int
	maxMutatingInFlight int
}

func (o *secureOptions) flagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("security", pflag.ContinueOnError)
	o.flags = flags
	flags.IntVar(&o.port, "secure-port", 0, "`PORT` for HTTPS; 0 takes a free port; disables plain HTTP unless --listen is given")
	flags.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "`IP` address of --secure-port")
	flags.StringVar(&o.CertFile, "tls-cert-file", "", "`FILE` with the serving certificate (default: a new certificate)")
	flags.StringVar(&o.KeyFile, "tls-private-key-file", "", "`FILE` with the private key of --tls-cert-file")
	flags.StringVar(&o.CertDir, "cert-dir", "", "`DIR` of the certificates and keys that are not given by other flags; missing ones are created (default: pki in --data-dir, otherwise in memory)")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", "", "`FILE` with the CAs of client certificates; the common name is the user, the organizations are the groups")
	flags.StringVar(&o.TokenAuthFile, "token-auth-file", "", "`FILE` of bearer tokens, one per line: token,user,uid,\"group,group\"")
	flags.StringVar(&o.AuthenticationConfig, "authentication-config", "", "`FILE` with an AuthenticationConfiguration: issuers of JSON Web Tokens and anonymous requests; loaded again when it changes, see docs/authentication.md")
	o.oidcFlags(flags)
	flags.StringVar(&o.RequestHeaders.ClientCAFile, "requestheader-client-ca-file", "", "`FILE` with the CAs of front proxies, whose requests name the user in headers")
	flags.StringSliceVar(&o.RequestHeaders.AllowedNames, "requestheader-allowed-names", nil, "comma-separated common `NAMES` of front proxies (default: any)")
	flags.StringSliceVar(&o.RequestHeaders.UsernameHeaders, "requestheader-username-headers", nil, "comma-separated `HEADERS` with the user, such as X-Remote-User")
	flags.StringSliceVar(&o.RequestHeaders.UIDHeaders, "requestheader-uid-headers", nil, "comma-separated `HEADERS` with the UID, such as X-Remote-Uid")
	flags.StringSliceVar(&o.RequestHeaders.GroupHeaders, "requestheader-group-headers", nil, "comma-separated `HEADERS` with groups, such as X-Remote-Group")
	flags.StringSliceVar(&o.RequestHeaders.ExtraHeaderPrefixes, "requestheader-extra-headers-prefix", nil, "comma-separated `PREFIXES` of headers with extra fields, such as X-Remote-Extra-")
	flags.StringVar(&o.ProxyClientCertFile, "proxy-client-cert-file", "", "`FILE` with the client certificate for requests to aggregated API servers (default: a new certificate)")
	flags.StringVar(&o.ProxyClientKeyFile, "proxy-client-key-file", "", "`FILE` with the private key of --proxy-client-cert-file")
	flags.BoolVar(&o.anonymous, "anonymous-auth", true, "accept requests without credentials as system:anonymous, except with AlwaysAllow")
	flags.StringVar(&o.authorization, "authorization-mode", string(miniapi.AlwaysAllow), "comma-separated `MODES`, evaluated in order: AlwaysAllow, AlwaysDeny, RBAC, Node, Webhook")
	flags.StringVar(&o.authorizationConfig, "authorization-config", "", "`FILE` with an AuthorizationConfiguration, instead of --authorization-mode; loaded again when it changes, see docs/authentication.md")
	o.webhookFlags(flags)
	flags.StringSliceVar(&o.ServiceAccountIssuers, "service-account-issuer", nil, "`NAME` of the issuer of service account tokens; repeated flags name further accepted issuers (default https://kubernetes.default.svc)")
	flags.StringVar(&o.ServiceAccountSigningKeyFile, "service-account-signing-key-file", "", "`FILE` with the private key that signs service account tokens (default: a new key, kept in --cert-dir)")
	flags.StringSliceVar(&o.ServiceAccountKeyFiles, "service-account-key-file", nil, "`FILE` with keys that verify service account tokens (default: the signing key)")
	flags.BoolVar(&o.lookup, "service-account-lookup", true, "require that the Secret of a service account token exists, for tokens in Secrets")
	flags.IntVar(&o.maxInFlight, "max-requests-inflight", 400, "maximum `NUMBER` of concurrent reads, 0 for no limit; administrators are exempt over HTTPS")
	flags.IntVar(&o.maxMutatingInFlight, "max-mutating-requests-inflight", 200, "maximum `NUMBER` of concurrent writes, 0 for no limit")
	return flags
}

// oidcFlags adds the flags for one issuer of JSON Web Tokens.
func (o *secureOptions) oidcFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.OIDC.IssuerURL, "oidc-issuer-url", "", "https `URL` of the issuer of JSON Web Tokens, instead of --authentication-config")
	flags.StringVar(&o.OIDC.ClientID, "oidc-client-id", "", "`AUDIENCE` of the tokens of --oidc-issuer-url")
	flags.StringVar(&o.OIDC.CAFile, "oidc-ca-file", "", "`FILE` with the CAs of --oidc-issuer-url (default: the CAs of the system)")
	flags.StringVar(&o.OIDC.UsernameClaim, "oidc-username-claim", "sub", "`CLAIM` with the user name")
	flags.StringVar(&o.OIDC.UsernamePrefix, "oidc-username-prefix", "", "`PREFIX` of user names, - for none (default: --oidc-issuer-url and #; none for the claim email)")
	flags.StringVar(&o.OIDC.GroupsClaim, "oidc-groups-claim", "", "`CLAIM` with the groups")
	flags.StringVar(&o.OIDC.GroupsPrefix, "oidc-groups-prefix", "", "`PREFIX` of groups")
	flags.StringSliceVar(&o.OIDC.SigningAlgs, "oidc-signing-algs", []string{"RS256"}, "comma-separated `ALGORITHMS` of accepted signatures")
	flags.StringToStringVar(&o.OIDC.RequiredClaims, "oidc-required-claim", nil, "`CLAIM=VALUE` that tokens must contain; may be repeated")
}

// webhookFlags adds the flags for servers that authenticate tokens and authorize requests.
func (o *secureOptions) webhookFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.webhook.ConfigFile, "authorization-webhook-config-file", "", "`FILE`, a kubeconfig, with the server of the mode Webhook")
	flags.StringVar(&o.webhook.Version, "authorization-webhook-version", "v1beta1", "`VERSION` of the SubjectAccessReviews for the mode Webhook, v1 or v1beta1")
	flags.DurationVar(&o.webhook.AuthorizedTTL, "authorization-webhook-cache-authorized-ttl", 5*time.Minute, "`DURATION` for which allowed requests are cached in the mode Webhook; 0 for none")
	flags.DurationVar(&o.webhook.UnauthorizedTTL, "authorization-webhook-cache-unauthorized-ttl", 30*time.Second, "`DURATION` for which other requests are cached in the mode Webhook; 0 for none")
	flags.StringVar(&o.TokenWebhook.ConfigFile, "authentication-token-webhook-config-file", "", "`FILE`, a kubeconfig, with a server that authenticates bearer tokens")
	flags.StringVar(&o.TokenWebhook.Version, "authentication-token-webhook-version", "v1beta1", "`VERSION` of the TokenReviews for that server, v1 or v1beta1")
	flags.DurationVar(&o.TokenWebhook.CacheTTL, "authentication-token-webhook-cache-ttl", 2*time.Minute, "`DURATION` for which answers of that server are cached; 0 for none")
}

// given reports whether a flag with a prefix is given.
func (o *secureOptions) given(prefix string) bool {
	given := false
	o.flags.VisitAll(func(flag *pflag.Flag) { given = given || flag.Changed && strings.HasPrefix(flag.Name, prefix) })
	return given
}

// applyAuthorization sets the fields of config for authorization. The defaults of flags are omitted
// where they would contradict others.
func (o *secureOptions) applyAuthorization(config *miniapi.Config) {
	config.AuthorizationConfig = o.authorizationConfig
	if o.authorizationConfig == "" || o.given("authorization-mode") {
		config.Authorization = miniapi.AuthorizationMode(o.authorization)
	}
	if o.given("authorization-webhook-") {
		config.AuthorizationWebhook = o.webhook
		config.AuthorizationWebhook.AuthorizedTTL = lifetimeOf(o.webhook.AuthorizedTTL)
		config.AuthorizationWebhook.UnauthorizedTTL = lifetimeOf(o.webhook.UnauthorizedTTL)
	}
}

// lifetimeOf converts a flag, where 0 means no cache, to a duration of miniapi.Config, where -1
// does.
func lifetimeOf(ttl time.Duration) time.Duration {
	if ttl == 0 {
		return -1
	}
	return ttl
}

// setOIDC removes the defaults of the flags for an issuer if none of the flags is given.
func (o *secureOptions) setOIDC(secure *miniapi.Secure) {
	if !o.given("oidc-") {
		secure.OIDC = miniapi.OIDC{}
	}
}

// apply sets the fields of config. listenGiven reports whether --listen was given.
func (o *secureOptions) apply(config *miniapi.Config, listenGiven bool) error {
	o.applyAuthorization(config)
	config.MaxRequestsInFlight = limitOf(o.maxInFlight)
	config.MaxMutatingRequestsInFlight = limitOf(o.maxMutatingInFlight)
	limitsErr := o.validateLimits()
	if !o.flags.Changed("secure-port") {
		return errors.Join(limitsErr, o.validateWithoutPort())
	}
	secure := o.Secure
	secure.Listen = net.JoinHostPort(o.bindAddress, strconv.Itoa(o.port))
	secure.RejectAnonymous = !o.anonymous
	secure.AcceptAnonymous = o.anonymous && o.flags.Changed("anonymous-auth")
	secure.SkipServiceAccountLookup = !o.lookup
	o.setOIDC(&secure)
	secure.TokenWebhook.CacheTTL = lifetimeOf(secure.TokenWebhook.CacheTTL)
	config.Secure = &secure
	if !listenGiven {
		config.Listen = ""
	}
	if net.ParseIP(o.bindAddress) == nil {
		return errors.Join(limitsErr, fmt.Errorf("--bind-address %q is not an IP address, such as 127.0.0.1 or 0.0.0.0", o.bindAddress))
	}
	return limitsErr
}

// validateLimits returns an error for each negative limit.
func (o *secureOptions) validateLimits() error {
	var errs []error
	for _, name := range []string{"max-requests-inflight", "max-mutating-requests-inflight"} {
		if value := o.flags.Lookup(name).Value.String(); strings.HasPrefix(value, "-") {
			errs = append(errs, fmt.Errorf("--%s %s is negative: use 0 for no limit", name, value))
		}
	}
	return errors.Join(errs...)
}

// validateWithoutPort returns an error for each given flag that requires --secure-port.
func (o *secureOptions) validateWithoutPort() error {
	var errs []error
	o.flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case !flag.Changed, strings.HasPrefix(flag.Name, "authorization-"), strings.HasSuffix(flag.Name, "-inflight"):
		default:
			errs = append(errs, fmt.Errorf("--%s requires --secure-port", flag.Name))
		}
	})
	return errors.Join(errs...)
}

// limitOf converts a flag, where 0 means no limit, to a limit of miniapi.Config, where -1 does.
func limitOf(limit int) int {
	if limit == 0 {
		return -1
	}
	return limit
}
