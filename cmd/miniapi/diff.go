package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const diffHelp = `Prints the difference between two versions of an object, as YAML without managedFields. A version is
a resourceVersion of "miniapi history". Without the second one, the present object is compared. The
server must have the test APIs on, as miniapi has by default on loopback.`

const diffExample = `  miniapi diff deploy/web@120 @134
  miniapi diff deploy/web@120
  miniapi diff configmap/settings@120 configmap/defaults -n kube-system`

// newDiff returns the subcommand that compares two versions of an object.
func newDiff() *cobra.Command {
	var access serverAccess
	cmd := &cobra.Command{
		Use:     "diff TYPE/NAME@VERSION [[TYPE/NAME]@VERSION]",
		Short:   "Print the difference between two versions of an object",
		Long:    diffHelp,
		Example: diffExample,
		Args: func(_ *cobra.Command, args []string) error {
			_, err := parseComparison(args)
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			compared, err := parseComparison(args)
			if err != nil {
				return err
			}
			return printDiff(cmd.Context(), &access, compared, cmd.OutOrStdout())
		},
	}
	addFlags(cmd, []flagSet{{"Flags", access.flagSet()}})
	return cmd
}

// versionName names a version of an object, the present one if the resourceVersion is 0.
type versionName struct {
	object          string
	resourceVersion int64
}

func (v versionName) String() string {
	if v.resourceVersion == 0 {
		return v.object
	}
	return fmt.Sprintf("%s@%d", v.object, v.resourceVersion)
}

// parseComparison returns the two versions that arguments name.
func parseComparison(args []string) ([2]versionName, error) {
	var compared [2]versionName
	if len(args) == 0 || len(args) > len(compared) {
		return compared, errComparison
	}
	for i, arg := range args {
		var ok bool
		if compared[i], ok = parseVersionName(arg); !ok {
			return compared, fmt.Errorf("%q: %w", arg, errComparison)
		}
	}
	if compared[1].object == "" {
		compared[1].object = compared[0].object
	}
	if !isObjectArgument(compared[0].object) || !isObjectArgument(compared[1].object) || compared[0] == compared[1] {
		return compared, errComparison
	}
	return compared, nil
}

var errComparison = errors.New("diff takes one or two different versions, such as deploy/web@120 @134")

// parseVersionName parses [TYPE/NAME][@VERSION]. A name may contain @.
func parseVersionName(arg string) (name versionName, ok bool) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 {
		return versionName{object: arg}, true
	}
	resourceVersion, err := strconv.ParseInt(arg[i+1:], 10, 64)
	if err != nil {
		return versionName{object: arg}, i > 0
	}
	return versionName{arg[:i], resourceVersion}, resourceVersion > 0
}

func printDiff(ctx context.Context, access *serverAccess, compared [2]versionName, out io.Writer) error {
	client, err := access.client()
	if err != nil {
		return err
	}
	var texts [2]string
	for i, version := range compared {
		path, err := client.pathOf(ctx, version.object, access.namespace)
		if err != nil {
			return err
		}
		if texts[i], err = client.version(ctx, path, &compared[i]); err != nil {
			return fmt.Errorf("diff of %s: %w", version, err)
		}
	}
	return difflib.WriteUnifiedDiff(out, difflib.UnifiedDiff{
		FromFile: compared[0].String(), A: slices.Collect(strings.Lines(texts[0])),
		ToFile: compared[1].String(), B: slices.Collect(strings.Lines(texts[1])), Context: 3,
	})
}

// version returns a version of the object at a path as YAML, and sets the resourceVersion of the
// present one.
func (c *serverClient) version(ctx context.Context, path string, name *versionName) (string, error) {
	if name.resourceVersion > 0 {
		path += "?" + url.Values{
			"resourceVersion": {strconv.FormatInt(name.resourceVersion, 10)}, "resourceVersionMatch": {"Exact"},
		}.Encode()
	}
	body, err := c.get(ctx, path)
	if apierrors.IsNotFound(err) && name.resourceVersion > 0 {
		return "", fmt.Errorf("the object did not exist at this resourceVersion (see miniapi history %s)", name.object)
	}
	if err != nil {
		return "", err
	}
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(body); err != nil {
		return "", err
	}
	found, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return "", fmt.Errorf("the object has no version that can be compared: resourceVersion %q", object.GetResourceVersion())
	}
	switch wanted := cmp.Or(name.resourceVersion, found); {
	case found > wanted:
		return "", errors.New("the server ignores resourceVersionMatch=Exact: start it with --enable-test-apis")
	case found < wanted:
		return "", fmt.Errorf("not a version of the object, which was at %d then (see miniapi history %s)", found, name.object)
	}
	name.resourceVersion = found
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object.Object)
	return string(text), err
}
