package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/tempdir"
)

// kubeconfigFile is a written kubeconfig.
type kubeconfigFile struct {
	path  string
	owned *tempdir.File // removed on exit; nil: the user chose the path
}

// writeKubeconfig writes the kubeconfig of the server to path, or to a temporary file if path is
// empty. It writes the whole file or none.
func writeKubeconfig(server *miniapi.Server, path string) (kubeconfigFile, error) {
	file := kubeconfigFile{path: path}
	data, err := server.Kubeconfig()
	if err != nil {
		return file, err
	}
	if path == "" {
		if file, err = defaultKubeconfig(server); err != nil {
			return file, fmt.Errorf("no file for the kubeconfig: %w: choose one with --write-kubeconfig FILE", err)
		}
	}
	if err := replaceFile(file.path, data); err != nil {
		file.remove()
		return file, fmt.Errorf("cannot write the kubeconfig %s: %w: choose another file with --write-kubeconfig FILE", file.path, err)
	}
	return file, nil
}

// kubeconfigPrefix begins the names of the files in cacheDir.
const kubeconfigPrefix = "kubeconfig-"

// defaultKubeconfig returns a path that contains the port, so that several servers do not overwrite
// each other's files.
func defaultKubeconfig(server *miniapi.Server) (kubeconfigFile, error) {
	dir, err := cacheDir()
	if err != nil {
		return kubeconfigFile{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return kubeconfigFile{}, err
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		return kubeconfigFile{}, err
	}
	name := kubeconfigPrefix + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(u.Host)
	owned, err := tempdir.Claim(filepath.Join(dir, name))
	if err != nil {
		return kubeconfigFile{}, err
	}
	return kubeconfigFile{path: owned.Path(), owned: owned}, nil
}

// cacheDir returns the directory of miniapi in the user's cache directory. It may not exist.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "miniapi"), err
}

var errDirectory = errors.New("it is a directory")

// createBeside creates a temporary file that can replace a file. The error of a directory says so.
func createBeside(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, errDirectory
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".miniapi-*")
	if err != nil {
		return nil, errors.Unwrap(err) // without the temporary name
	}
	return temp, nil
}

// checkReplaceable returns an error if replaceFile cannot write a file.
func checkReplaceable(path string) error {
	temp, err := createBeside(path)
	if err != nil {
		return err
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name()))
}

// replaceFile writes a file with mode 0600.
func replaceFile(path string, data []byte) error {
	temp, err := createBeside(path)
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func (f kubeconfigFile) remove() {
	if f.owned == nil {
		return
	}
	if err := f.owned.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, "miniapi:", err)
	}
}

// removeAbandonedKubeconfigs removes the kubeconfigs of servers that were killed.
func removeAbandonedKubeconfigs(ctx context.Context) error {
	dir, err := cacheDir()
	if err != nil {
		return err
	}
	return tempdir.RemoveAbandonedFiles(ctx, dir, kubeconfigPrefix)
}
