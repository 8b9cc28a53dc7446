package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/miniapi/miniapi/test/e2e/command"
)

func main() {
	assets := flag.String("assets", "", "`DIR` with the binaries of envtest")
	runs := flag.Int("runs", 5, "`NUMBER` of processes to measure for each way; the table has the medians")
	child := flag.String(childFlag, "", "`NAME` of the way to measure in this process; used by the command itself")
	flag.Parse()
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := run(*child, *assets, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

const childFlag = "measure"

func run(child, assets string, runs int) error {
	if child != "" {
		return measureHere(child)
	}
	dir, err := os.MkdirTemp("", "miniapi-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := command.Use(dir); err != nil {
		return err
	}
	own := filepath.Join(dir, "assets")
	if out, err := exec.Command(os.Getenv("MINIAPI_BIN"), "assets", own, "--kubectl", os.Getenv("MINIAPI_BIN")).CombinedOutput(); err != nil {
		return fmt.Errorf("miniapi assets: %w: %s", err, out)
	}
	fmt.Println("| way | first start | further starts | memory | per further server |\n|---|---|---|---|---|")
	for _, c := range candidates {
		env := os.Environ()
		switch {
		case c.binaries == downloaded && assets == "":
			continue
		case c.binaries == downloaded:
			env = append(env, "KUBEBUILDER_ASSETS="+assets)
		case c.binaries == ours:
			env = append(env, "KUBEBUILDER_ASSETS="+own)
		}
		results, err := measure(c.name, env, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Println(row(c.name, results))
	}
	return nil
}

// result is the measurement of one process.
type result struct {
	First, Further             time.Duration // Further is the median
	FirstMemory, FurtherMemory int64         // in bytes; FurtherMemory is the mean
}

// measure runs processes that each measure a way once.
func measure(name string, env []string, runs int) ([]result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var results []result
	for i := range runs {
		cache := filepath.Join(os.Getenv("XDG_CACHE_HOME"), fmt.Sprint(i)) // a host ends with its socket
		cmd := exec.Command(self, "-"+childFlag, name)
		cmd.Env = append(env, fmt.Sprintf("%s=%d-%d", marker, os.Getpid(), i), "XDG_CACHE_HOME="+cache)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		if err := os.RemoveAll(cache); err != nil {
			return nil, err
		}
		var r result
		if err := json.Unmarshal(out, &r); err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// measureHere measures a way in this process and prints the result.
func measureHere(name string) error {
	i := slices.IndexFunc(candidates, func(c candidate) bool { return c.name == name })
	if i < 0 {
		return fmt.Errorf("there is no way %q", name)
	}
	var t test
	defer t.end()
	ctx := context.Background()
	before := memory()
	var starts []time.Duration
	var used []int64
	for range 1 + candidates[i].further {
		began := time.Now()
		create, err := candidates[i].start(&t)
		if err != nil {
			return err
		}
		if err := create(ctx); err != nil {
			return err
		}
		starts = append(starts, time.Since(began))
		used = append(used, memory()-before)
	}
	last := len(used) - 1
	return json.NewEncoder(os.Stdout).Encode(result{
		First: starts[0], Further: median(starts[1:]),
		FirstMemory: used[0], FurtherMemory: (used[last] - used[0]) / int64(last),
	})
}

func row(name string, results []result) string {
	column := func(value func(r result) int64) int64 {
		var all []int64
		for _, r := range results {
			all = append(all, value(r))
		}
		return median(all)
	}
	first := column(func(r result) int64 { return int64(r.First) })
	further := column(func(r result) int64 { return int64(r.Further) })
	one := column(func(r result) int64 { return r.FirstMemory })
	more := column(func(r result) int64 { return r.FurtherMemory })
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", name, duration(first), duration(further), megabytes(one), megabytes(more))
}

func duration(nanoseconds int64) string {
	switch d := time.Duration(nanoseconds); {
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	default:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	}
}

func megabytes(n int64) string {
	if n == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func median[T int64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
