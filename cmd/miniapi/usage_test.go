package main

import (
	"strings"
	"testing"
)

func TestUsageErrors(t *testing.T) {
	for args, want := range map[string]string{
		"healthcheck a b":                     "healthcheck takes one URL at most, such as http://127.0.0.1:8080",
		"top extra":                           `unexpected argument "extra": miniapi top takes flags only (see miniapi top --help)`,
		"completion foo":                      `unknown command "foo" (see miniapi completion --help)`,
		"completion bas":                      `unknown command "bas": did you mean "bash"? (see miniapi completion --help)`,
		"completion bash x":                   `unexpected argument "x": miniapi completion bash takes flags only (see miniapi completion bash --help)`,
		"help foo":                            `unknown command "foo" (see miniapi --help)`,
		"help hist":                           `unknown command "hist": did you mean "history"? (see miniapi --help)`,
		"foo":                                 `unknown command "foo" (see miniapi --help)`,
		"hist":                                `unknown command "hist": did you mean "history"? (see miniapi --help)`,
		"snap":                                `unknown command "snap": did you mean "snapshot"? (see miniapi --help)`,
		"tpo":                                 `unknown command "tpo": did you mean "top"? (see miniapi --help)`,
		"-n x":                                "unknown shorthand flag: 'n' in -n (see miniapi --help)",
		"--secure-port 0 --bind-address foo":  `--bind-address "foo" is not an IP address, such as 127.0.0.1 or 0.0.0.0`,
		"--max-requests-inflight -1":          "--max-requests-inflight -1 is negative: use 0 for no limit",
		"--max-mutating-requests-inflight=-1": "--max-mutating-requests-inflight -1 is negative: use 0 for no limit",
		"--listen 127.0.0.1:0 --write-kubeconfig .": "cannot write the kubeconfig .: it is a directory: choose another file with --write-kubeconfig FILE",
	} {
		out, err := runMiniapi(t, strings.Fields(args)...)
		if err == nil || err.Error() != want || out != "" {
			t.Errorf("miniapi %s: error %v, want %q\n%s", args, err, want, out)
		}
	}
}

func TestHelpOfCommands(t *testing.T) {
	for args, want := range map[string]string{
		"help history":    "\n  -n, --namespace NAMESPACE         NAMESPACE of the object (default default)\n",
		"history --help":  "\n  -h, --help                        print this help\n",
		"diff -h":         "\n  -q, --brief ",
		"help":            "\n  miniapi history                   Print the past versions of an object\n",
		"completion":      "\n  miniapi completion bash           Generate the autocompletion script for bash\n",
		"help completion": "\n  miniapi completion zsh            Generate the autocompletion script for zsh\n",
	} {
		out, err := runMiniapi(t, strings.Fields(args)...)
		if err != nil || !strings.Contains("\n"+out, want) {
			t.Errorf("miniapi %s: %v, want %q\n%s", args, err, want, out)
		}
	}
}
