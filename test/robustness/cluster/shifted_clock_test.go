package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shiftItself is a program that prints its time, moves its clock by eight hours, and prints by how
// much the wall clock and the monotonic clock have moved.
const shiftItself = `package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	began := time.Now()
	if err := os.WriteFile(os.Getenv("` + clockMarker + `"), []byte("5h"), 0o600); err != nil {
		panic(err)
	}
	for time.Now().Round(0).Sub(began.Round(0)) < 7*time.Hour {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(began.Unix(), time.Now().Round(0).Sub(began.Round(0)).Round(time.Hour), time.Since(began).Round(time.Hour))
}
`

// The wall clock of a patched program can be shifted before its start and while it runs. The
// monotonic clock is not affected.
func TestShiftedClock(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	flags, err := ShiftedClockFlags(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program.exe")
	args := append([]string{"build", "-race=false", "-o", program}, flags...)
	if out, err := exec.CommandContext(t.Context(), "go", append(args, write("main.go", shiftItself))...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := exec.CommandContext(t.Context(), program)
	run.Env = append(os.Environ(), clockMarker+"="+write("clock", "-3h"))
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	began, moved, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	seconds, err := strconv.ParseInt(began, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if shift := time.Since(time.Unix(seconds, 0)).Round(time.Hour); shift != 3*time.Hour || moved != "8h0m0s 0s" {
		t.Errorf("the clock started %v behind; then the clocks moved by %s", shift, moved)
	}
}
