package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// runAssets runs miniapi assets with the given PATH and returns its output.
func runAssets(t *testing.T, path string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := command(t, append([]string{"assets"}, args...)...)
	cmd.Env = append(cmd.Env, "PATH="+path)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if runErr := cmd.Run(); runErr != nil {
		t.Fatalf("%v: %s", runErr, err.String())
	}
	return out.String(), err.String()
}

func TestAssetsAreLinksToOneProgram(t *testing.T) {
	t.Parallel()
	dir, kubectl := filepath.Join(t.TempDir(), "a", "b"), script(t, "kubectl")
	for range 2 { // the second time changes nothing
		if out, _ := runAssets(t, "", "--kubectl", kubectl, dir); out != "export KUBEBUILDER_ASSETS="+dir+"\n" {
			t.Errorf("output %s", out)
		}
		if got := names(t, dir); got != "etcd k8s kube-apiserver kubectl" {
			t.Errorf("files %s", got)
		}
	}
	layout := filepath.Join(dir, "k8s", names(t, filepath.Join(dir, "k8s")))
	if got := names(t, layout); got != "etcd kube-apiserver kubectl" {
		t.Errorf("files of the layout %s", got)
	}
	for _, path := range []string{filepath.Join(dir, "kube-apiserver"), filepath.Join(layout, "etcd"), filepath.Join(layout, "kube-apiserver")} {
		if !os.SameFile(stat(t, filepath.Join(dir, "etcd")), stat(t, path)) {
			t.Errorf("etcd and %s are different files", path)
		}
	}
	out, err := exec.Command(filepath.Join(dir, "etcd"), "--version").Output()
	check(t, err)
	if !strings.HasPrefix(string(out), "etcd Version: ") {
		t.Errorf("etcd printed %s", out)
	}
}

// The assets outlive the program that wrote them, as with go run. An older program is replaced.
func TestAssetsOutliveTheirProgram(t *testing.T) {
	t.Parallel()
	dir, original := t.TempDir(), filepath.Join(t.TempDir(), "miniapi")
	data, err := os.ReadFile(program)
	check(t, err)
	writeProgram(t, original, data)
	check(t, exec.CommandContext(t.Context(), original, "assets", dir, "--kubectl", script(t, "kubectl")).Run())
	check(t, os.Remove(original))
	check(t, exec.Command(filepath.Join(dir, "kube-apiserver"), "--version").Run())
	runAssets(t, "", dir)
	layout := filepath.Join(dir, "k8s", names(t, filepath.Join(dir, "k8s")))
	for _, path := range []string{filepath.Join(dir, "etcd"), filepath.Join(layout, "etcd")} {
		if !os.SameFile(stat(t, path), stat(t, program)) {
			t.Errorf("the older program %s was not replaced", path)
		}
	}
	if got := names(t, dir); got != "etcd k8s kube-apiserver kubectl" {
		t.Errorf("files %s", got)
	}
}

func TestAssetsOutputIsAShellCommand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's $HOME")
	out, err := exec.Command("sh", "-c", `eval "$("$0" assets "$1" --kubectl "$0")"; printf %s "$KUBEBUILDER_ASSETS"`, program, dir).Output()
	check(t, err)
	if string(out) != dir {
		t.Errorf("KUBEBUILDER_ASSETS is %s, want %s", out, dir)
	}
}

func TestAssetsForPowerShell(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's \u2018quoted\u2019 $HOME")
	out, _ := runAssets(t, "", "--shell", "powershell", "--kubectl", script(t, "kubectl"), dir)
	name := strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019").Replace(dir)
	if out != "$Env:KUBEBUILDER_ASSETS = '"+name+"'\n" {
		t.Errorf("output %s", out)
	}
}

func TestAssetsKubectl(t *testing.T) {
	t.Parallel()
	dir, found, given := t.TempDir(), script(t, "kubectl"), script(t, "kubectl")
	_, notes := runAssets(t, t.TempDir(), dir)
	if strings.Count(notes, "\n") != 1 || !strings.Contains(notes, "--kubectl FILE") || names(t, dir) != "etcd k8s kube-apiserver" {
		t.Errorf("without kubectl: files %s, notes %s", names(t, dir), notes)
	}
	for want, args := range map[string][]string{found: {dir}, given: {dir, "--kubectl", given}} {
		check(t, os.RemoveAll(filepath.Join(dir, "kubectl")))
		_, notes := runAssets(t, filepath.Dir(found), args...)
		if notes != "miniapi: kubectl v1.35.1: "+want+"\n" || !os.SameFile(stat(t, filepath.Join(dir, "kubectl")), stat(t, want)) {
			t.Errorf("%q did not link to %s: %s", args, want, notes)
		}
	}
	runAssets(t, filepath.Dir(found), dir, "--kubectl", given)
	runAssets(t, filepath.Dir(found), dir)
	if !os.SameFile(stat(t, filepath.Join(dir, "kubectl")), stat(t, given)) {
		t.Error("the given kubectl was replaced")
	}
}

func TestAssetsKubectlWithoutVersion(t *testing.T) {
	t.Parallel()
	kubectl := script(t, "kubectl")
	writeProgram(t, kubectl, []byte("#!/bin/sh\nexit 1\n"))
	if _, notes := runAssets(t, "", "--kubectl", kubectl, t.TempDir()); notes != "miniapi: kubectl of unknown version: "+kubectl+"\n" {
		t.Errorf("notes %s", notes)
	}
}

// The name of the layout has the version that a Makefile passes to setup-envtest.
func TestAssetsAsVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, version := range []string{"1.31.0", "v1.30.4"} {
		runAssets(t, "", "--kubectl", script(t, "kubectl"), "--as-version", version, dir)
	}
	platform := "-" + runtime.GOOS + "-" + runtime.GOARCH
	if got, want := names(t, filepath.Join(dir, "k8s")), "1.30.4"+platform+" 1.31.0"+platform; got != want {
		t.Errorf("layouts %s, want %s", got, want)
	}
}

func TestAssetsErrors(t *testing.T) {
	t.Parallel()
	taken := t.TempDir()
	check(t, os.WriteFile(filepath.Join(taken, "etcd"), []byte("#!/bin/sh\n"), 0o700))
	file := script(t, "file")
	for want, args := range map[string][]string{
		"miniapi: assets takes exactly one directory, such as ./bin/envtest (see miniapi assets --help)":    {"assets"},
		`miniapi: --shell "fish" is not one of sh, powershell`:                                              {"assets", "--shell", "fish", taken},
		"miniapi: unknown flag: --nope (see miniapi assets --help)":                                         {"assets", "--nope"},
		"miniapi: assets: " + filepath.Join(taken, "etcd") + " exists and is not miniapi: choose another d": {"assets", taken},
		`miniapi: assets: --as-version "1.31" must have three numbers, such as 1.`:                          {"assets", t.TempDir(), "--as-version", "1.31"},
		"miniapi: assets: mkdir " + file + ": not a directory":                                              {"assets", file},
		"/nowhere: no such file or directory":                                                               {"assets", t.TempDir(), "--kubectl", "/nowhere"},
	} {
		if lines := failingRun(t, args...); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%q: got %q, want one line with %s", args, lines, want)
		}
	}
}

// script writes a program that prints the version of a kubectl to a new directory and returns its
// path.
func script(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeProgram(t, path, []byte("#!/bin/sh\necho Client Version: v1.35.1\necho Kustomize Version: v5.7.1\n"))
	return path
}

// writeProgram writes a file that can be executed. Meanwhile no parallel test may start a process:
// a child has the open files of its parent until it executes its own program, and a file that is
// open for writing cannot be executed.
func writeProgram(t *testing.T, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	check(t, os.WriteFile(path, content, 0o700))
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	return info
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}
