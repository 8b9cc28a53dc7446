package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi"
)

// BenchmarkCreate measures a POST beside a create-if-absent transaction.
func BenchmarkCreate(b *testing.B) {
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("c%d", workers), func(b *testing.B) {
			f := newFixture(b)
			compare(b, &side{name: "miniapi", workers: workers, do: func(_, i int) error {
				return f.send(http.MethodPost, f.url(""), configMap(fmt.Sprintf("c%d", i), ""))
			}}, &side{name: "etcd", workers: workers, do: func(_, i int) error {
				key := fmt.Sprintf("/raw/c%d", i)
				return f.txn(key, 0, payload)
			}})
		})
	}
}

// BenchmarkUpdate measures an unconditional PUT that changes an object beside a read and a
// transaction guarded by its revision.
func BenchmarkUpdate(b *testing.B) {
	f := newFixture(b)
	f.fill(16)
	compare(b, &side{name: "miniapi", workers: 16, do: func(worker, i int) error {
		name := fmt.Sprintf("item-%05d", worker)
		return f.send(http.MethodPut, f.url("/"+name), configMap(name, fmt.Sprint(i)))
	}}, &side{name: "etcd", workers: 16, do: func(worker, i int) error {
		return f.readModifyWrite(fmt.Sprintf("/raw/item-%05d", worker), fmt.Sprint(i))
	}})
}

// BenchmarkContendedUpdate measures sixteen writers of one object that read, change and write
// it until they succeed, on both sides.
func BenchmarkContendedUpdate(b *testing.B) {
	f := newFixture(b)
	f.fill(1)
	compare(b, &side{name: "miniapi", workers: 16, do: func(_, i int) error {
		return f.putUntilWritten("item-00000", fmt.Sprint(i))
	}}, &side{name: "etcd", workers: 16, do: func(_, i int) error {
		return f.readModifyWrite("/raw/item-00000", fmt.Sprint(i))
	}})
}

// putUntilWritten is a client's read-modify-write with retry on conflict.
func (f *fixture) putUntilWritten(name, extra string) error {
	for {
		object := map[string]any{}
		if err := f.get(f.url("/"+name), &object); err != nil {
			return err
		}
		object["data"].(map[string]any)["extra"] = extra
		body, err := json.Marshal(object)
		if err != nil {
			return err
		}
		written, err := f.put(f.url("/"+name), body)
		if written || err != nil {
			return err
		}
	}
}

// txn writes a key if it is still at a revision.
func (f *fixture) txn(key string, revision int64, value string) error {
	resp, err := f.etcd.Txn(f.b.Context()).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
		Then(clientv3.OpPut(key, value)).
		Else(clientv3.OpGet(key)).Commit()
	if err == nil && !resp.Succeeded {
		err = errConflict
	}
	return err
}

func (f *fixture) readModifyWrite(key, extra string) error {
	for {
		got, err := f.etcd.Get(f.b.Context(), key)
		if err != nil {
			return err
		}
		var revision int64
		if len(got.Kvs) > 0 {
			revision = got.Kvs[0].ModRevision
		}
		if err := f.txn(key, revision, payload+extra); err != errConflict {
			return err
		}
	}
}

// BenchmarkCreateService measures the creation of a service beside 4,000 others, in comparison with
// a server without services.
func BenchmarkCreateService(b *testing.B) {
	config := miniapi.Config{ServiceClusterIPRange: "10.0.0.0/16"}
	full, empty := newFixtureWith(b, config), newFixtureWith(b, config)
	create := func(f *fixture, name string) error {
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Service","metadata":{"name":%q},"spec":{"ports":[{"port":80}]}}`, name)
		return f.send(http.MethodPost, f.server.URL()+"/api/v1/namespaces/default/services", body)
	}
	for i := range 4000 {
		if err := create(full, fmt.Sprintf("other-%d", i)); err != nil {
			b.Fatal(err)
		}
	}
	in := func(f *fixture) func(worker, i int) error {
		return func(_, i int) error { return create(f, fmt.Sprintf("service-%d", i)) }
	}
	compare(b, &side{name: "full", workers: 4, do: in(full)}, &side{name: "empty", workers: 4, do: in(empty)})
}
