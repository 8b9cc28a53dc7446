package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

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
	flags.StringVar(&o.RequestHeaders.ClientCAFile, "requestheader-client-ca-file", "", "`FILE` with the CAs of front proxies, whose requests name the user in headers")
	flags.StringSliceVar(&o.RequestHeaders.AllowedNames, "requestheader-allowed-names", nil, "comma-separated common `NAMES` of front proxies (default: any)")
	flags.StringSliceVar(&o.RequestHeaders.UsernameHeaders, "requestheader-username-headers", nil, "comma-separated `HEADERS` with the user, such as X-Remote-User")
	flags.StringSliceVar(&o.RequestHeaders.UIDHeaders, "requestheader-uid-headers", nil, "comma-separated `HEADERS` with the UID, such as X-Remote-Uid")
	flags.StringSliceVar(&o.RequestHeaders.GroupHeaders, "requestheader-group-headers", nil, "comma-separated `HEADERS` with groups, such as X-Remote-Group")
	flags.StringSliceVar(&o.RequestHeaders.ExtraHeaderPrefixes, "requestheader-extra-headers-prefix", nil, "comma-separated `PREFIXES` of headers with extra fields, such as X-Remote-Extra-")
	flags.StringVar(&o.ProxyClientCertFile, "proxy-client-cert-file", "", "`FILE` with the client certificate for requests to aggregated API servers (default: a new certificate)")
	flags.StringVar(&o.ProxyClientKeyFile, "proxy-client-key-file", "", "`FILE` with the private key of --proxy-client-cert-file")
	flags.BoolVar(&o.anonymous, "anonymous-auth", true, "accept requests without credentials as system:anonymous, except with AlwaysAllow")
	flags.StringVar(&o.authorization, "authorization-mode", string(miniapi.AlwaysAllow), "comma-separated `MODES`, evaluated in order: AlwaysAllow, AlwaysDeny, RBAC, Node")
	flags.StringSliceVar(&o.ServiceAccountIssuers, "service-account-issuer", nil, "`NAME` of the issuer of service account tokens; repeated flags name further accepted issuers (default https://kubernetes.default.svc)")
	flags.StringVar(&o.ServiceAccountSigningKeyFile, "service-account-signing-key-file", "", "`FILE` with the private key that signs service account tokens (default: a new key, kept in --cert-dir)")
	flags.StringSliceVar(&o.ServiceAccountKeyFiles, "service-account-key-file", nil, "`FILE` with keys that verify service account tokens (default: the signing key)")
	flags.BoolVar(&o.lookup, "service-account-lookup", true, "require that the Secret of a service account token exists, for tokens in Secrets")
	flags.IntVar(&o.maxInFlight, "max-requests-inflight", 400, "maximum `NUMBER` of concurrent reads, 0 for no limit; administrators are exempt over HTTPS")
	flags.IntVar(&o.maxMutatingInFlight, "max-mutating-requests-inflight", 200, "maximum `NUMBER` of concurrent writes, 0 for no limit")
	return flags
}

// apply sets the fields of config. listenGiven reports whether --listen was given.
func (o *secureOptions) apply(config *miniapi.Config, listenGiven bool) error {
	config.Authorization = miniapi.AuthorizationMode(o.authorization)
	config.MaxRequestsInFlight = limitOf(o.maxInFlight)
	config.MaxMutatingRequestsInFlight = limitOf(o.maxMutatingInFlight)
	if !o.flags.Changed("secure-port") {
		return o.validateWithoutPort()
	}
	secure := o.Secure
	secure.Listen = net.JoinHostPort(o.bindAddress, strconv.Itoa(o.port))
	secure.RejectAnonymous = !o.anonymous
	secure.SkipServiceAccountLookup = !o.lookup
	config.Secure = &secure
	if !listenGiven {
		config.Listen = ""
	}
	return nil
}

// validateWithoutPort returns an error for each given flag that requires --secure-port.
func (o *secureOptions) validateWithoutPort() error {
	var errs []error
	o.flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case !flag.Changed, flag.Name == "authorization-mode", strings.HasSuffix(flag.Name, "-inflight"):
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
