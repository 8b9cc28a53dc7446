package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/ui"
)

const uiHelp = `Prints the URL of the page of a server, for a browser. If the kubeconfig has a bearer token, it is in
the fragment of the URL, which a browser does not send: the page keeps it until the tab is closed.`

const uiExample = `  miniapi ui
  miniapi ui --kubeconfig admin.kubeconfig
  xdg-open "$(miniapi ui)"`

// newUI returns the subcommand that prints the URL of the page.
func newUI() *cobra.Command {
	var access serverAccess
	cmd := &cobra.Command{
		Use:     "ui [flags]",
		Short:   "Print the URL of the page of a server",
		Long:    uiHelp,
		Example: uiExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, err := access.pageURL(cmd.Context())
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), address)
			}
			return err
		},
	}
	addFlags(cmd, []flagSet{{"Flags", access.connectionFlagSet()}})
	return cmd
}

// pageURL returns the URL of the page, with the token of the kubeconfig.
func (a *serverAccess) pageURL(ctx context.Context) (string, error) {
	config, err := a.config()
	if err != nil {
		return "", err
	}
	client, err := newServerClient(config)
	if err != nil {
		return "", err
	}
	defer client.close()
	address := client.host + ui.Path + "/"
	_, err = client.get(ctx, ui.Path+"/")
	var answer *apierrors.StatusError
	if errors.As(err, &answer) {
		return "", fmt.Errorf("no page at %s (%w): start the server with --enable-ui", address, err)
	}
	if err != nil {
		return "", err
	}
	token, err := tokenOf(config)
	if err != nil || token == "" {
		return address, err
	}
	return address + "#token=" + url.QueryEscape(token), nil
}

// tokenOf returns the bearer token of a config, "" if it has none.
func tokenOf(config *rest.Config) (string, error) {
	if config.BearerTokenFile == "" {
		return config.BearerToken, nil
	}
	token, err := os.ReadFile(config.BearerTokenFile)
	return string(token), err
}
