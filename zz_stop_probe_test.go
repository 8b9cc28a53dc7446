package miniapi

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

func TestZZStop(t *testing.T) {
	bad := 0
	var total time.Duration
	for range 30 {
		s, err := Start(t.Context(), Config{})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := net.Dial("tcp", s.listener.Addr().String())
		defer c.Close()
		var wg sync.WaitGroup
		var mu sync.Mutex
		tr := &http.Transport{}
		for range 100 {
			res, err := (&http.Client{Transport: tr}).Get(s.URL() + "/api/v1/configmaps?watch=1")
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				_, err := io.ReadAll(res.Body)
				if err != nil {
					mu.Lock()
					bad++
					mu.Unlock()
				}
			})
		}
		t0 := time.Now()
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		total += time.Since(t0)
		wg.Wait()
		tr.CloseIdleConnections()
	}
	fmt.Println("broken streams:", bad, "mean stop", total/30)
}
