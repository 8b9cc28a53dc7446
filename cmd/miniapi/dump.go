package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const dumpHelp = `Writes the objects of a server, or of a snapshot of etcd, to YAML files: one file for each resource,
in the order of namespaces and names, without the fields that the server sets. Another server gets
the objects by --manifests DIR, or by kubectl apply -f DIR.

The bootstrap objects, Events and the objects that controllers derive for each namespace or Service
are left out. Owner references are left out too, because they contain UIDs. Secrets are
written with --secrets only, because fixtures are often shared.`

const dumpExample = `  miniapi dump testdata/cluster
  miniapi dump out deployments -n prod --from-snapshot etcd.db --etcd-prefix /registry
  miniapi --manifests testdata/cluster`

// dumpOptions holds the flags of the subcommand dump.
type dumpOptions struct {
	access                     serverAccess
	withStatus, exact, secrets bool
}

// newDump returns the subcommand that writes objects to files.
func newDump() *cobra.Command {
	var opts dumpOptions
	cmd := &cobra.Command{
		Use:     "dump DIR [TYPE...]",
		Short:   "Write objects to YAML files for --manifests",
		Long:    dumpHelp,
		Example: dumpExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("dump takes a directory, such as testdata/cluster")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return opts.run(cmd.Context(), args[0], args[1:], cmd.OutOrStdout())
		},
	}
	flags := opts.access.flagSet()
	flags.Lookup("namespace").Usage = "`NAMESPACE` of the objects (default: all objects)"
	flags.Lookup("namespace").DefValue = ""
	flags.BoolVar(&opts.secrets, "secrets", false, "write Secrets too")
	flags.BoolVar(&opts.withStatus, "with-status", false, "write the status too; --manifests does not restore it")
	flags.BoolVar(&opts.exact, "exact", false, "write objects as the server returns them, to compare dumps; --manifests cannot restore them")
	addFlags(cmd, []flagSet{{"Flags", flags}})
	return cmd
}

func (o *dumpOptions) run(ctx context.Context, dir string, kinds []string, out io.Writer) error {
	if err := checkDumpDir(dir); err != nil {
		return err
	}
	client, err := o.access.open(ctx)
	if err != nil {
		return err
	}
	defer client.close()
	resources, err := client.listedResources(ctx)
	if err != nil {
		return err
	}
	if err := o.checkKinds(resources, kinds); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	objects, files := 0, 0
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		resource := resources[name]
		if !o.selects(resource, kinds) {
			continue
		}
		text, count, err := o.dumpResource(ctx, client, resource)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if count == 0 {
			continue
		}
		objects, files = objects+count, files+1
		if err := os.WriteFile(filepath.Join(dir, dumpFile(name)), text, 0o600); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s in %s of %s\n", counted(objects, "object"), counted(files, "file"), dir)
	return nil
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// checkKinds returns an error for a type that the server does not have, or that is not written.
func (o *dumpOptions) checkKinds(resources map[string]*listedResource, kinds []string) error {
	for _, kind := range kinds {
		found := ""
		for label, resource := range resources {
			if resource.isNamed(kind) && (found == "" || o.omission(found) != "") {
				found = label
			}
		}
		if found == "" {
			return fmt.Errorf("the server has no resource type %q", kind)
		}
		if reason := o.omission(found); reason != "" {
			return fmt.Errorf("%s are not written: %s", found, reason)
		}
	}
	return nil
}

// omission returns why the objects of a resource are not written, and a remedy. It returns "" if
// they are.
func (o *dumpOptions) omission(resource string) string {
	switch {
	case resource == "secrets" && !o.secrets:
		return "add --secrets, or remove the type"
	case derivedResources[resource] != "":
		return derivedResources[resource] + ": remove the type"
	}
	return ""
}

// checkDumpDir returns an error for a directory that is not empty: files of an earlier dump would
// be restored together with the new ones.
func checkDumpDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && len(entries) > 0:
		return fmt.Errorf("directory %s is not empty: remove its files, or name another directory", dir)
	}
	return err
}

// dumpFile returns the name of the file of a resource. Definitions and Namespaces are first in the
// order of names, which is the order of kubectl apply.
func dumpFile(resource string) string {
	order := "2"
	switch resource {
	case "customresourcedefinitions.apiextensions.k8s.io":
		order = "0"
	case "namespaces":
		order = "1"
	}
	return order + "-" + resource + ".yaml"
}

func (o *dumpOptions) selects(r *listedResource, kinds []string) bool {
	if len(kinds) > 0 && !slices.ContainsFunc(kinds, r.isNamed) || o.access.flags.Changed("namespace") && !r.Namespaced {
		return false
	}
	return o.omission(r.label) == ""
}

// dumpResource returns the YAML documents of a resource and their number. It tries all versions,
// because a version that needs a conversion webhook may not be readable.
func (o *dumpOptions) dumpResource(ctx context.Context, client *serverClient, r *listedResource) (text []byte, count int, err error) {
	var first error
	for _, version := range r.versions {
		list := r.in(client, version)
		if o.access.flags.Changed("namespace") {
			list.namespace = o.access.namespace
		}
		if text, count, err = o.dumpList(ctx, list); err == nil {
			return text, count, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, 0, first
}

func (o *dumpOptions) dumpList(ctx context.Context, list *objectList) (text []byte, count int, err error) {
	var documents bytes.Buffer
	for {
		obj, err := list.peek(ctx)
		if err != nil {
			return nil, 0, err
		}
		if obj == nil {
			return documents.Bytes(), count, nil
		}
		if !isBootstrap(list.resource.label, obj) {
			if err := o.write(&documents, obj); err != nil {
				return nil, 0, err
			}
			count++
		}
		list.next()
	}
}

func (o *dumpOptions) write(documents *bytes.Buffer, obj *unstructured.Unstructured) error {
	if !o.exact {
		clean(obj)
		if !o.withStatus {
			delete(obj.Object, "status")
		}
	}
	text, err := yaml.Marshal(obj.Object)
	if documents.Len() > 0 {
		documents.WriteString("---\n")
	}
	documents.Write(text)
	return err
}
