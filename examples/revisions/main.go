// Command revisions prints the revisions of etcd beside the resourceVersion of an object. Through
// create, update, delete and re-create, resourceVersion is the ModRevision of the key. An old
// revision can still be read.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
)

const key = "/registry/configmaps/default/settings"

func main() {
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
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		return err
	}
	configMaps := client.CoreV1().ConfigMaps("default")
	etcd := server.EtcdClient()
	settings := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"value": value}}
	}

	created, err := configMaps.Create(ctx, settings("one"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	table := &table{etcd: etcd, start: revisionOf(created)}
	fmt.Println("(revisions relative to the first write; resourceVersion as in the response)")
	fmt.Println("             Revision CreateRevision ModRevision Version resourceVersion")
	if err := table.row(ctx, "create", created); err != nil {
		return err
	}
	updated, err := configMaps.Update(ctx, settings("two"), metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := table.row(ctx, "update", updated); err != nil {
		return err
	}
	same, err := configMaps.Update(ctx, settings("two"), metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := table.row(ctx, "no change", same); err != nil {
		return err
	}
	if err := configMaps.Delete(ctx, "settings", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := table.row(ctx, "delete", nil); err != nil {
		return err
	}
	recreated, err := configMaps.Create(ctx, settings("three"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := table.row(ctx, "re-create", recreated); err != nil {
		return err
	}
	return printOld(ctx, etcd, revisionOf(created))
}

// table prints revisions relative to the first write, so that the output is the same in every run.
type table struct {
	etcd  *clientv3.Client
	start int64
}

func (t *table) row(ctx context.Context, step string, object *corev1.ConfigMap) error {
	got, err := t.etcd.Get(ctx, key)
	if err != nil {
		return err
	}
	revision := got.Header.Revision - t.start + 1
	if len(got.Kvs) == 0 {
		fmt.Printf("%-12s %8d %14s %11s %7s %15s\n", step, revision, "-", "-", "-", "-")
		return nil
	}
	kv := got.Kvs[0]
	fmt.Printf("%-12s %8d %14d %11d %7d %15d\n", step, revision,
		kv.CreateRevision-t.start+1, kv.ModRevision-t.start+1, kv.Version, revisionOf(object)-t.start+1)
	return nil
}

// printOld reads the key at an old revision, which etcd keeps until compaction.
func printOld(ctx context.Context, etcd *clientv3.Client, revision int64) error {
	old, err := etcd.Get(ctx, key, clientv3.WithRev(revision))
	if err != nil {
		return err
	}
	fmt.Printf("at the first revision the key has version %d and begins with %q\n", old.Kvs[0].Version, old.Kvs[0].Value[:4])
	return nil
}

func revisionOf(object *corev1.ConfigMap) int64 {
	var revision int64
	if _, err := fmt.Sscan(object.ResourceVersion, &revision); err != nil {
		log.Fatalf("resourceVersion %q is not a number", object.ResourceVersion)
	}
	return revision
}
