package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/internal/kubeconfig"
	"github.com/miniapi/miniapi/testapi/recording"
)

const recordHelp = `Runs a command with a server of its own, or with the server of --server or --kubeconfig, and writes
the requests of the command for objects and their answers to FILE. The exit code is the code of the
command. "miniapi replay" sends the requests to another server and prints the differences.

The command finds a recording proxy by the environment variable KUBECONFIG. In FILE, values that
differ from run to run have names such as <uid-1> and <time>. The values of Secrets and tokens have
names too. The other flags are those of miniapi itself.`

const recordExample = `  miniapi record golden.yaml -- kubectl create configmap settings --from-literal a=b
  miniapi record golden.yaml --crds config/crd/bases -- go test ./...
  miniapi record golden.yaml --kubeconfig ~/.kube/config -- kubectl get pods`

// recordOptions holds the flags of the subcommand record.
type recordOptions struct {
	options
	access serverAccess
	own    []flagSet // of options
}

// newRecord returns the subcommand that records the requests of a command.
func newRecord() *cobra.Command {
	var opts recordOptions
	cmd := &cobra.Command{
		Use:     "record FILE [flags] -- COMMAND [ARGS]",
		Short:   "Record the requests of a command and their answers",
		Long:    recordHelp,
		Example: recordExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || cmd.ArgsLenAtDash() != 1 {
				return errors.New("record takes a file, and a command after --, such as miniapi record golden.yaml -- kubectl get namespaces")
			}
			return nil
		},
		// Before the environment and --config are read: they may be for other runs.
		PreRunE: func(*cobra.Command, []string) error { return opts.validate() },
		RunE:    func(cmd *cobra.Command, args []string) error { return opts.run(cmd, args[0], args[1:]) },
	}
	target := pflag.NewFlagSet("target", pflag.ContinueOnError)
	target.SortFlags = false
	target.StringVar(&opts.access.server, "server", "", "`URL` of a server without authentication to use instead of a new one")
	target.StringVar(&opts.access.kubeconfig, "kubeconfig", "", "`FILE` with the server and the credentials to use instead of a new server")
	opts.access.flags, opts.own = target, opts.flagSets()
	addFlags(cmd, append([]flagSet{{"Server that exists", target}}, opts.own...))
	readFlagSources(cmd, envPrefix)
	return cmd
}

// usesServer reports whether the flags name a server that exists.
func (o *recordOptions) usesServer() bool { return o.access.server != "" || o.access.kubeconfig != "" }

// validate returns an error for each given flag that is only for a server that record starts.
func (o *recordOptions) validate() error {
	if !o.usesServer() {
		return nil
	}
	var errs []error
	for _, set := range o.own {
		set.flags.VisitAll(func(flag *pflag.Flag) {
			if flag.Changed && flag.Name != "config" {
				errs = append(errs, fmt.Errorf("--%s is for a server that record starts: remove it, or --server and --kubeconfig", flag.Name))
			}
		})
	}
	return errors.Join(errs...)
}

func (o *recordOptions) run(cmd *cobra.Command, file string, command []string) error {
	ctx := cmd.Context()
	if err := checkReplaceable(file); err != nil {
		return fmt.Errorf("cannot write the recording %s: %w: name a file, such as golden.yaml", file, err)
	}
	if o.usesServer() {
		config, err := o.access.config()
		if err == nil {
			err = checkAnswers(ctx, config)
		}
		if err != nil {
			return err
		}
		return record(ctx, config, file, command)
	}
	if !cmd.Flags().Changed("listen") {
		o.listen = "127.0.0.1:0"
	}
	server, err := o.start(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer removeAbandoned(ctx)()
	defer stopAfterCommand(ctx, server)
	return record(ctx, server.RESTConfig(), file, command)
}

// checkAnswers returns an error if a server does not answer. Its answer does not matter.
func checkAnswers(ctx context.Context, config *rest.Config) error {
	client, err := newServerClient(config)
	if err != nil {
		return err
	}
	defer client.close()
	var answer *apierrors.StatusError
	if _, err := client.get(ctx, "/version"); !errors.As(err, &answer) {
		return err
	}
	return nil
}

// record runs a command with a proxy of a server and writes the recording. Its error is the
// command's, if it has failed.
func record(ctx context.Context, server *rest.Config, file string, command []string) error {
	recorder, err := recording.NewRecorder(server)
	if err != nil {
		return err
	}
	url, stop, err := serveProxy(recorder)
	if err != nil {
		return err
	}
	client, err := kubeconfig.Encode(&rest.Config{Host: url})
	if err == nil {
		err = runWithKubeconfig(ctx, client, command)
	}
	stop()
	var exit exitError
	if err != nil && !errors.As(err, &exit) {
		return err // the command has not run
	}
	if writeErr := writeRecording(recorder, file); writeErr != nil {
		return fmt.Errorf("cannot write the recording %s: %w", file, writeErr)
	}
	return err
}

// proxyTimeout limits the time in which requests of an ended command are ended.
const proxyTimeout = 5 * time.Second

// serveProxy serves a handler on a free port. stop ends the open requests.
func serveProxy(handler http.Handler) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		_ = server.Serve(listener)
	}()
	return "http://" + listener.Addr().String(), func() {
		cancel()
		limit, free := context.WithTimeout(context.Background(), proxyTimeout)
		defer free()
		_ = server.Shutdown(limit)
		_ = server.Close()
		<-done
	}, nil
}

// writeRecording writes the whole file or none.
func writeRecording(recorder *recording.Recorder, file string) error {
	exchanges, err := recorder.Exchanges()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := recording.Write(&text, exchanges); err != nil {
		return err
	}
	return replaceFile(file, text.Bytes())
}
