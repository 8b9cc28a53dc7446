package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clockMarker is the environment variable with the file that ShiftClock writes.
const clockMarker = "MINIAPI_ROBUSTNESS_CLOCK"

// wallOffset is added to package time, whose Now adds it to the wall clock. The monotonic clock
// stays as it is.
const wallOffset = `
// WallOffset is added to the wall clock, in seconds.
var WallOffset atomic.Int64
`

// readOffset is added to package os, which is the first one that can read the file.
const readOffset = `package os

import "time"

func init() {
	file := Getenv("` + clockMarker + `")
	if file == "" {
		return
	}
	setWallOffset(file)
	go func() { // ends with the process
		for {
			time.Sleep(10 * time.Millisecond)
			setWallOffset(file)
		}
	}()
}

func setWallOffset(file string) {
	if text, err := ReadFile(file); err == nil {
		if offset, err := time.ParseDuration(string(text)); err == nil {
			time.WallOffset.Store(int64(offset / time.Second))
		}
	}
}
`

// ShiftedClockFlags returns the flags with which Build builds a command whose clock can be shifted.
// dir receives patched copies of files of the standard library.
func ShiftedClockFlags(ctx context.Context, dir string) ([]string, error) {
	root, err := Repository(ctx)
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "go", "-C", root, "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the standard library: %w", err)
	}
	library := filepath.Join(strings.TrimSpace(string(out)), "src")
	original := filepath.Join(library, "time", "time.go")
	patched, added, file := filepath.Join(dir, "time.go"), filepath.Join(dir, "os.go"), filepath.Join(dir, "overlay.json")
	if err := patchNow(original, patched); err != nil {
		return nil, err
	}
	if err := os.WriteFile(added, []byte(readOffset), 0o600); err != nil {
		return nil, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		original: patched, filepath.Join(library, "os", "shifted_clock.go"): added,
	}})
	if err != nil {
		return nil, err
	}
	return []string{"-overlay", file}, os.WriteFile(file, overlay, 0o600)
}

// patchNow writes a copy of the file with time.Now in which Now adds WallOffset.
func patchNow(original, patched string) error {
	data, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	const read, imports = "\tsec, nsec, mono := runtimeNow()\n", "import (\n"
	text := string(data)
	if strings.Count(text, read) != 1 || strings.Count(text, imports) != 1 {
		return fmt.Errorf("%s has changed: adapt the patch", original)
	}
	text = strings.Replace(text, imports, imports+"\t\"sync/atomic\"\n", 1)
	text = strings.Replace(text, read, read+"\tsec += WallOffset.Load()\n", 1)
	return os.WriteFile(patched, []byte(text+wallOffset), 0o600)
}

// ShiftClock shifts the wall clock of the server from the clock of the machine. The server must be
// built with ShiftedClockFlags. The shift outlives a restart.
func (s *Server) ShiftClock(ctx context.Context, offset time.Duration) error {
	return s.shiftClock(ctx, s.URL+"/livez", offset)
}

// ShiftClock shifts the wall clock of the member from the clock of the machine. The member must be
// built with ShiftedClockFlags. The shift outlives a restart.
func (m *Member) ShiftClock(ctx context.Context, offset time.Duration) error {
	return m.shiftClock(ctx, m.ClientURL+"/health", offset)
}

// clockFile returns the file with the shift of the clock.
func (p *Process) clockFile() string { return strings.TrimSuffix(p.log, ".log") + ".clock" }

// clockTolerance is the maximum difference of a shifted clock from the expected time. It is much
// less than a shift, and allows for whole seconds and a busy machine.
const clockTolerance = 30 * time.Second

// shiftClock returns when the responses of a URL of the process have the shifted time.
func (p *Process) shiftClock(ctx context.Context, url string, offset time.Duration) error {
	if err := os.WriteFile(p.clockFile(), []byte(offset.String()), 0o600); err != nil {
		return err
	}
	for {
		now, err := dateOf(ctx, url)
		if err == nil && now.Sub(time.Now().Add(offset)).Abs() < clockTolerance {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the clock of %s is %v, not shifted by %v: %w: %w", p.Name, now, offset, err, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// dateOf returns the time in a response of a URL.
func dateOf(ctx context.Context, url string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return time.Time{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return time.Time{}, err
	}
	defer resp.Body.Close()
	return http.ParseTime(resp.Header.Get("Date"))
}
