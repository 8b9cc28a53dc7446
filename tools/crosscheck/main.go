// Command crosscheck type-checks the packages of a module and their tests for other platforms:
//
//	crosscheck [-C DIR] windows/amd64 darwin/arm64
//
// It finds the errors that go build and go vet would report, such as a constant of package syscall
// that a platform does not have, but compiles nothing: these commands compile all dependencies for
// each platform first, which takes minutes. Only function bodies of the module itself are checked.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("C", ".", "`DIR` of the module")
	flag.Parse()
	root, err := filepath.Abs(*dir)
	if err != nil || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck [-C DIR] GOOS/GOARCH...")
		os.Exit(2)
	}
	failed := false
	for _, platform := range flag.Args() {
		problems, err := check(root, platform)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, problem := range problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", platform, problem)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors in the packages and tests of the module in root.
func check(root, platform string) ([]string, error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not GOOS/GOARCH", platform)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Dir:   root,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		ParseFile: func(set *token.FileSet, path string, source []byte) (*ast.File, error) {
			return parse(set, root, path, source)
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("no packages in %s", root)
	}
	var problems []string
	known := map[string]bool{} // a package and its variant with tests share files
	for _, p := range loaded {
		if strings.HasSuffix(p.ID, ".test") { // the generated main package of a test
			continue
		}
		for _, problem := range p.Errors {
			if text := problem.Error(); !known[text] {
				known[text] = true
				problems = append(problems, text)
			}
		}
	}
	return problems, nil
}

// parse parses a file. It drops the function bodies of files outside of root.
func parse(set *token.FileSet, root, path string, source []byte) (*ast.File, error) {
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if file == nil || strings.HasPrefix(path, root+string(filepath.Separator)) {
		return file, err
	}
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
	return file, err
}
