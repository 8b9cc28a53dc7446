package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

var errConflict = errors.New("the key was changed since the read")

// BenchmarkGet measures a GET beside a linearizable read of the key.
func BenchmarkGet(b *testing.B) {
	f := newFixture(b)
	f.fill(16)
	compare(b, &side{name: "miniapi", workers: 16, do: func(worker, _ int) error {
		return f.send(http.MethodGet, f.url(fmt.Sprintf("/item-%05d", worker)), nil)
	}}, &side{name: "etcd", workers: 16, do: func(worker, _ int) error {
		_, err := f.etcd.Get(f.b.Context(), fmt.Sprintf("/raw/item-%05d", worker))
		return err
	}})
}

// BenchmarkList measures a list of all objects beside one range read of as many keys, for 1,000
// to 100,000 objects.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFixture(b)
			f.fill(n)
			compare(b, &side{name: "miniapi", workers: 1, do: func(int, int) error {
				return f.send(http.MethodGet, f.url(""), nil)
			}}, &side{name: "etcd", workers: 1, do: func(int, int) error {
				_, err := f.etcd.Get(f.b.Context(), "/raw/", clientv3.WithPrefix())
				return err
			}})
		})
	}
}

func (f *fixture) get(url string, into any) error {
	resp, err := f.http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// put returns whether the object was written; false means that it had changed since the read.
func (f *fixture) put(url string, body []byte) (written bool, err error) {
	err = f.send(http.MethodPut, url, body)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusConflict {
		return false, nil
	}
	return err == nil, err
}
