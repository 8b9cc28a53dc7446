package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// runAsCurl does not return if the process was started under the name curl. It implements the part
// of curl that the README uses, for machines without curl.
func runAsCurl() {
	if filepath.Base(os.Args[0]) != "curl" {
		return
	}
	if err := curl(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func curl(args []string) error {
	method, target, body, header := http.MethodGet, "", "", http.Header{}
	client := http.DefaultClient
	for len(args) > 0 {
		flag := args[0]
		if args = args[1:]; flag == "-s" {
			continue
		}
		if !strings.HasPrefix(flag, "-") {
			target = flag
			continue
		}
		if len(args) == 0 {
			return fmt.Errorf("%s needs a value", flag)
		}
		value := args[0]
		args = args[1:]
		switch flag {
		case "-X":
			method = value
		case "-H":
			name, content, _ := strings.Cut(value, ":")
			header.Set(name, strings.TrimSpace(content))
		case "-d":
			body = value
			if method == http.MethodGet {
				method = http.MethodPost
			}
		case "--unix-socket":
			client = &http.Client{Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "unix", value)
				},
			}}
		default:
			return fmt.Errorf("unknown flag %s", flag)
		}
	}
	return fetch(client, method, target, body, header)
}

func fetch(client *http.Client, method, target, body string, header http.Header) error {
	req, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = header
	req.Header.Set("User-Agent", "curl/8")
	req.Header.Set("Accept", "*/*")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}
