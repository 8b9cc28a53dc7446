// Package kubectl runs the kubectl that is compiled into this program, as a
// process of its own: the program starts itself again and then is kubectl. So
// no binary has to be installed, and what kubectl keeps in global variables and
// its calls of os.Exit stay where they are.
package kubectl

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// marker in the environment says that this process is to be kubectl.
const marker = "MINIAPI_E2E_KUBECTL"

// BeIfAsked never returns in a process that Command started. Call it first
// thing in main or TestMain.
func BeIfAsked() {
	if os.Getenv(marker) != "" {
		Main()
	}
}

// Main is kubectl with the arguments of this process, and ends it. It does
// what kubectl's own main does through component-base/cli, save for a line
// about the race detector on standard error.
func Main() {
	os.Args[0] = "kubectl"
	command := cmd.NewDefaultKubectlCommand()
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		c.SilenceUsage = false
		return err
	})
	command.SetGlobalNormalizationFunc(flag.WordSepNormalizeFunc)
	logs.AddFlags(command.PersistentFlags())
	before := command.PersistentPreRunE
	command.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		logs.InitLogs()
		return before(c, args)
	}
	err := command.Execute()
	logs.FlushLogs()
	if err != nil {
		cmdutil.CheckErr(err) // prints the error as kubectl does, and exits
	}
	os.Exit(0)
}

// Command returns kubectl with these arguments, against the server of a
// kubeconfig. It sees nothing of the user's own kubectl settings.
func Command(ctx context.Context, kubeconfig string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	c := exec.CommandContext(ctx, self, args...)
	home := filepath.Dir(kubeconfig)
	c.Env = append(os.Environ(), marker+"=1", "KUBECONFIG="+kubeconfig, "HOME="+home, "KUBECTL_KUBERC=false")
	return c
}

// Result is what kubectl printed, and how it ended.
type Result struct {
	Stdout, Stderr string
	Err            error // an *exec.ExitError where kubectl failed
}

// Run runs kubectl to its end with input on standard input.
func Run(ctx context.Context, kubeconfig, input string, args ...string) Result {
	c := Command(ctx, kubeconfig, args...)
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &stdout, &stderr
	err := c.Run()
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Err: err}
}
