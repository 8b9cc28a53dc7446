// Command replace shows a conflict as kubectl prints it. A Deployment is read with
// `kubectl get -o yaml`, another client changes it, and `kubectl replace` of the stale copy is
// rejected. `kubectl apply` of the same change succeeds, because it sends a patch.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/test/e2e/kubectl"
)

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "nginx:1"}
`

func main() {
	kubectl.BeIfAsked()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	server, err := miniapi.Start(ctx, miniapi.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(ctx)) }()
	dir, err := os.MkdirTemp("", "replace-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return err
	}
	return story(&shell{ctx: ctx, kubeconfig: path})
}

func story(sh *shell) error {
	sh.show(manifest, "apply", "-f", "-")
	mine := sh.quiet("get", "deployment", "web", "-o", "yaml")
	sh.show("", "scale", "deployment", "web", "--replicas=3") // another client
	mine = strings.ReplaceAll(mine, "nginx:1", "nginx:2")
	sh.show(mine, "replace", "-f", "-")
	sh.show(strings.ReplaceAll(manifest, "nginx:1", "nginx:2"), "apply", "-f", "-")
	sh.show("", "get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	return sh.err
}

// shell runs kubectl and prints what a user would see.
type shell struct {
	ctx        context.Context
	kubeconfig string
	err        error
}

func (sh *shell) show(input string, args ...string) {
	fmt.Println("$ kubectl " + strings.Join(args, " "))
	result := kubectl.Run(sh.ctx, sh.kubeconfig, input, args...)
	fmt.Print(result.Stdout, result.Stderr)
	if !strings.HasSuffix(result.Stdout+result.Stderr, "\n") {
		fmt.Println()
	}
}

func (sh *shell) quiet(args ...string) string {
	result := kubectl.Run(sh.ctx, sh.kubeconfig, "", args...)
	if result.Err != nil {
		sh.err = errors.Join(sh.err, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), result.Err, result.Stderr))
	}
	return result.Stdout
}
