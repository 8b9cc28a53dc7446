package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// snapshotDiff compares the objects of two snapshots.
type snapshotDiff struct {
	*diffOptions
	from, to         *serverClient
	fromName, toName string
	kind, name       string // of the objects to compare, "" for all
	namespace        string // of the objects to compare, "" for all
	differ           bool
}

// compareSnapshots prints the objects that differ between two snapshots, and reports whether there
// are any.
func (o *diffOptions) compareSnapshots(ctx context.Context, args []string, out io.Writer) (differ bool, err error) {
	if err := o.access.validate(); err != nil {
		return false, err
	}
	d := &snapshotDiff{diffOptions: o, fromName: o.access.snapshot.String(), toName: o.to.String()}
	if d.fromName == d.toName { // in different directories
		d.fromName, d.toName = o.access.snapshot.file, o.to.file
	}
	if len(args) > 0 {
		d.kind, d.name, _ = strings.Cut(args[0], "/")
	}
	if o.access.flags.Changed("namespace") {
		d.namespace = o.access.namespace
	}
	if d.from, err = o.access.snapshot.serve(ctx); err != nil {
		return false, fmt.Errorf("--from-snapshot: %w", err)
	}
	defer d.from.close()
	o.to.prefix, o.to.encryption = o.access.snapshot.prefix, o.access.snapshot.encryption
	if d.to, err = o.to.serve(ctx); err != nil {
		return false, fmt.Errorf("--to-snapshot: %w", err)
	}
	defer d.to.close()
	err = d.compare(ctx, out)
	return d.differ, err
}

// compare compares all selected resources.
func (d *snapshotDiff) compare(ctx context.Context, out io.Writer) error {
	before, err := d.from.listedResources(ctx)
	if err != nil {
		return err
	}
	after, err := d.to.listedResources(ctx)
	if err != nil {
		return err
	}
	found := false
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(mergeMaps(before, after))) {
		either := cmp.Or(before[name], after[name])
		if d.kind != "" && !either.isNamed(d.kind) || d.namespace != "" && !either.Namespaced {
			continue
		}
		found = true
		if err := d.compareResource(ctx, out, before[name], after[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	if !found && d.kind != "" {
		errs = append(errs, fmt.Errorf("neither snapshot has a resource type %q", d.kind))
	}
	return errors.Join(errs...)
}

func mergeMaps(a, b map[string]*listedResource) map[string]*listedResource {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged
}

// compareResource compares the objects of a resource, of which one side may be nil. It tries the
// versions that both sides serve, because a version that needs a conversion webhook cannot be read.
func (d *snapshotDiff) compareResource(ctx context.Context, out io.Writer, before, after *listedResource) error {
	var first error
	for _, version := range commonVersions(before, after) {
		var text bytes.Buffer
		differ, err := d.compareVersion(ctx, &text, before.in(d.from, version), after.in(d.to, version))
		if err == nil {
			d.differ = d.differ || differ
			_, err = text.WriteTo(out)
			return err
		}
		first = cmp.Or(first, err)
	}
	return first
}

// compareVersion merges two lists in the order of namespaces and names.
func (d *snapshotDiff) compareVersion(ctx context.Context, out io.Writer, before, after *objectList) (differ bool, err error) {
	before.namespace, before.name, after.namespace, after.name = d.namespace, d.name, d.namespace, d.name
	for {
		from, err := before.peek(ctx)
		if err != nil {
			return differ, err
		}
		to, err := after.peek(ctx)
		if err != nil || from == nil && to == nil {
			return differ, err
		}
		order := compareKeys(from, to)
		if order <= 0 {
			before.next()
		} else {
			from = nil
		}
		if order >= 0 {
			after.next()
		} else {
			to = nil
		}
		if order == 0 && equalObjects(from, to) {
			continue
		}
		differ = true
		if err := d.print(out, cmp.Or(before.resource, after.resource).label, from, to); err != nil {
			return differ, err
		}
	}
}

// compareKeys compares the keys of two objects. An absent object is after all others.
func compareKeys(a, b *unstructured.Unstructured) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return strings.Compare(keyOf(a), keyOf(b))
}

// keyOf returns NAMESPACE/NAME, or NAME. Objects are listed in the order of these keys.
func keyOf(object *unstructured.Unstructured) string {
	if namespace := object.GetNamespace(); namespace != "" {
		return namespace + "/" + object.GetName()
	}
	return object.GetName()
}

// equalObjects reports whether objects are equal except for the resourceVersion and managedFields.
func equalObjects(a, b *unstructured.Unstructured) bool {
	return equality.Semantic.DeepEqual(content(a), content(b))
}

func content(object *unstructured.Unstructured) map[string]any {
	copied := maps.Clone(object.Object)
	if metadata, ok := copied["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "resourceVersion")
		delete(metadata, "managedFields")
		copied["metadata"] = metadata
	}
	return copied
}

// print prints the difference of an object that is nil on one side, or differs.
func (d *snapshotDiff) print(out io.Writer, resource string, from, to *unstructured.Unstructured) error {
	if d.brief {
		_, err := fmt.Fprintf(out, "%-9s%s %s\n", changeOf(from, to), resource, keyOf(cmp.Or(from, to)))
		return err
	}
	_, err := printDiff(out, d.side(d.fromName, resource, from), d.side(d.toName, resource, to))
	return err
}

func changeOf(from, to *unstructured.Unstructured) string {
	switch {
	case from == nil:
		return "created"
	case to == nil:
		return "deleted"
	case from.GetUID() != to.GetUID():
		return "replaced"
	default:
		return "changed"
	}
}

func (d *snapshotDiff) side(snapshot, resource string, object *unstructured.Unstructured) diffSide {
	if object == nil {
		return diffSide{name: "/dev/null"}
	}
	return diffSide{fmt.Sprintf("%s: %s %s@%s", snapshot, resource, keyOf(object), object.GetResourceVersion()), object}
}
