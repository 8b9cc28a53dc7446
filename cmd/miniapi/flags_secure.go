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

// secureOptions are the flags, named as in kube-apiserver, of a server that
// speaks TLS.
type secureOptions struct {
	miniapi.Secure
	flags         *pflag.FlagSet
	bindAddress   string
	port          int
	anonymous     bool
	authorization string
	reading       int
	changing      int
}

func (o *secureOptions) flagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("security", pflag.ContinueOnError)
	o.flags = flags
	flags.IntVar(&o.port, "secure-port", 0, "`PORT` for HTTPS, 0 for a free one; turns plain HTTP off unless --listen is given")
	flags.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "`IP` of --secure-port; any will do")
	flags.StringVar(&o.CertFile, "tls-cert-file", "", "`FILE` with the serving certificate (default: one is made)")
	flags.StringVar(&o.KeyFile, "tls-private-key-file", "", "`FILE` with its key")
	flags.StringVar(&o.CertDir, "cert-dir", "", "`DIR` with apiserver.crt and apiserver.key, which are made if they are not there")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", "", "`FILE` with the CAs of client certificates: the common name is the user, organizations are groups")
	flags.StringVar(&o.TokenAuthFile, "token-auth-file", "", "`FILE` of bearer tokens: token,user,uid,\"group,group\"")
	flags.BoolVar(&o.anonymous, "anonymous-auth", true, "let requests without credentials in as system:anonymous; never with AlwaysAllow")
	flags.StringVar(&o.authorization, "authorization-mode", string(miniapi.AlwaysAllow), "`MODES` of who may do what, asked in order: AlwaysAllow, AlwaysDeny, RBAC, and Node, which allows nothing")
	flags.StringSliceVar(&o.ServiceAccountIssuers, "service-account-issuer", nil, "`NAME` of the server in the tokens of service accounts (default https://kubernetes.default.svc)")
	flags.StringVar(&o.ServiceAccountSigningKeyFile, "service-account-signing-key-file", "", "`FILE` with the key that signs them (default: one is made)")
	flags.StringSliceVar(&o.ServiceAccountKeyFiles, "service-account-key-file", nil, "`FILE` with a key that checks them (default: the signing key)")
	flags.IntVar(&o.reading, "max-requests-inflight", 400, "`NUMBER` of requests that read at a time, over HTTPS those of administrators not counted; 0: any")
	flags.IntVar(&o.changing, "max-mutating-requests-inflight", 200, "`NUMBER` of those that change something; 0: any")
	return flags
}

// apply puts the flags into the configuration. listenGiven: plain HTTP was
// asked for.
func (o *secureOptions) apply(config *miniapi.Config, listenGiven bool) error {
	config.Authorization = miniapi.AuthorizationMode(o.authorization)
	config.MaxRequestsInFlight = orAny(o.reading)
	config.MaxMutatingRequestsInFlight = orAny(o.changing)
	if !o.flags.Changed("secure-port") {
		return o.idle()
	}
	secure := o.Secure
	secure.Listen = net.JoinHostPort(o.bindAddress, strconv.Itoa(o.port))
	secure.RejectAnonymous = !o.anonymous
	config.Secure = &secure
	if !listenGiven {
		config.Listen = ""
	}
	return nil
}

// idle names the flags that do nothing without a secure port.
func (o *secureOptions) idle() error {
	var errs []error
	o.flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case !flag.Changed, flag.Name == "authorization-mode", strings.HasSuffix(flag.Name, "-inflight"):
		default:
			errs = append(errs, fmt.Errorf("--%s is for --secure-port, which is not set", flag.Name))
		}
	})
	return errors.Join(errs...)
}

// orAny turns the flag's "no limit" into that of the configuration.
func orAny(limit int) int {
	if limit == 0 {
		return -1
	}
	return limit
}
