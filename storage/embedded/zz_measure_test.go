package embedded

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"syscall"
	"testing"
	"time"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestMeasure(t *testing.T) {
	var ss []*Server
	var ds []time.Duration
	g0 := runtime.NumGoroutine()
	for range 100 {
		b := time.Now()
		s, err := Start(t.Context(), Config{})
		if err != nil { t.Fatal(err) }
		ds = append(ds, time.Since(b))
		ss = append(ss, s)
	}
	sort.Slice(ds, func(i, j int) bool { return ds[i] < ds[j] })
	fmt.Println("start p50", ds[50], "p90", ds[90], "goroutines each", float64(runtime.NumGoroutine()-g0)/100)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println("heap each", m.HeapAlloc/100)
	c := cpu(); w := time.Now()
	time.Sleep(5 * time.Second)
	fmt.Printf("idle %.1f%%\n", 100*float64(cpu()-c)/float64(time.Since(w)))
	ds = ds[:0]
	for _, s := range ss { b := time.Now(); s.Close(t.Context()); ds = append(ds, time.Since(b)) }
	sort.Slice(ds, func(i, j int) bool { return ds[i] < ds[j] })
	fmt.Println("close p50", ds[50], "p90", ds[90])
}

func TestLarge(t *testing.T) {
	dir, _ := os.MkdirTemp("", "large")
	defer os.RemoveAll(dir)
	s, err := Start(t.Context(), Config{DataDir: dir})
	if err != nil { t.Fatal(err) }
	done := make(chan struct{})
	b := time.Now()
	for w := range 16 {
		go func() {
			v := string(make([]byte, 2000))
			for i := range 8000 { s.Client().Put(t.Context(), fmt.Sprintf("/k/%d/%d", w, i), v) }
			done <- struct{}{}
		}()
	}
	for range 16 { <-done }
	fmt.Println("240k puts", time.Since(b))
	s.Close(t.Context())
	st, _ := os.Stat(dir + "/member/snap/db")
	fmt.Println("db", st.Size()>>20, "MiB")
	d := &dataDir{path: dir}
	b = time.Now()
	f, _ := os.Create("/tmp/s/emb.prof")
	pprof.StartCPUProfile(f)
	if err := d.check(t.Context()); err != nil { t.Fatal(err) }
	pprof.StopCPUProfile()
	fmt.Println("check", time.Since(b))
	b = time.Now()
	s, err = Start(t.Context(), Config{DataDir: dir})
	if err != nil { t.Fatal(err) }
	fmt.Println("start", time.Since(b))
	s.Close(t.Context())
}
