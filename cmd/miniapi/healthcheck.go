package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const healthcheckHelp = `Requests /readyz of a server. The exit code is 0 if the server is ready, else 1. It is the health
check of containers, which have no curl. The URL defaults to http://127.0.0.1:8080. A server with
HTTPS must accept requests without credentials; its certificate is not verified, because nothing
is sent to it.`

// healthcheckTimeout bounds a health check.
const healthcheckTimeout = 5 * time.Second

// newHealthcheck returns the subcommand that checks whether a server is ready.
func newHealthcheck() *cobra.Command {
	flags := pflag.NewFlagSet("healthcheck", pflag.ContinueOnError)
	flags.BoolP("help", "h", false, "print this help")
	cmd := &cobra.Command{
		Use:   "healthcheck [URL]",
		Short: "Check whether a server is ready",
		Long:  healthcheckHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errors.New("healthcheck takes one URL at most, such as " + defaultServer)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			server := defaultServer
			if len(args) == 1 {
				server = args[0]
			}
			if err := checkReady(cmd.Context(), server); err != nil {
				return fmt.Errorf("healthcheck: %w", err)
			}
			return nil
		},
	}
	addFlags(cmd, []flagSet{{"Flags", flags}})
	return cmd
}

// checkReady returns an error unless the server answers /readyz with 200.
func checkReady(ctx context.Context, server string) error {
	if err := checkServerURL(server); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", userAgent())
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(request.URL.String() + ": " + response.Status)
	}
	return nil
}
