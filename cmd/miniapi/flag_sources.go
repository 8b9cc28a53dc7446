package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/internal/suggest"
)

// Prefixes of the environment variables of flags. The commands miniapi and run have the same flags
// and variables.
const (
	envPrefix       = "MINIAPI_"
	hostEnvPrefix   = envPrefix + "HOST_"
	assetsEnvPrefix = envPrefix + "ASSETS_"
)

// prefixAnnotation is the annotation of a command with the prefix of its variables.
const prefixAnnotation = "environment prefix"

// flagSources sets the flags of a command that are not in its arguments: from environment
// variables, else from the configuration file.
type flagSources struct {
	flags   *pflag.FlagSet
	prefix  string
	origins map[string]string // by flag: an environment variable, or a file with a line
}

// addConfigFlag adds --config to the flags of a command. example is one of its other flags.
func addConfigFlag(flags *pflag.FlagSet, prefix, example string) {
	flags.String("config", "", fmt.Sprintf("YAML `FILE` with values of flags, by their names; a flag can also be set by an "+
		"environment variable, such as %s, which takes precedence over the file, as a flag does over both", variableOf(prefix, example)))
}

// readFlagSources lets a command read the environment and the file of --config before it runs. An
// error about a value that comes from there names its source.
func readFlagSources(cmd *cobra.Command, prefix string) {
	cmd.Annotations = map[string]string{prefixAnnotation: prefix}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		sources := flagSources{flags: cmd.Flags(), prefix: prefix, origins: map[string]string{}}
		warnOfVariables(cmd.ErrOrStderr(), cmd.Root())
		if err := sources.read(); err != nil {
			return err
		}
		return sources.explain(run(cmd, args))
	}
}

// variableOf returns the environment variable of a flag.
func variableOf(prefix, flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settable returns the names of the flags that have a variable and a key in the file.
func settable(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" && flag.Name != "version" {
			names = append(names, flag.Name)
		}
	})
	return names
}

// read sets the flags. Its error lists all variables and keys that are not valid.
func (s *flagSources) read() error {
	var errs []error
	for _, name := range settable(s.flags) {
		variable := variableOf(s.prefix, name)
		value, ok := os.LookupEnv(variable)
		if !ok || s.flags.Changed(name) {
			continue
		}
		if err := s.flags.Set(name, value); err != nil {
			errs = append(errs, fmt.Errorf("environment variable %s: %w", variable, err))
		}
		s.origins[name] = "environment variable " + variable
	}
	if file := s.flags.Lookup("config").Value.String(); file != "" {
		errs = append(errs, s.readFile(file))
	}
	return errors.Join(errs...)
}

func (s *flagSources) readFile(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return s.explain(fmt.Errorf("--config: %w", err))
	}
	values := map[string]any{}
	if err := yaml.UnmarshalStrict(data, &values, useNumber); err != nil {
		return fmt.Errorf("%s is not a YAML file of flags: %w", file, err)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := position(file, data, name)
		switch {
		case name == "config" || !slices.Contains(settable(s.flags), name):
			errs = append(errs, fmt.Errorf("%s: unknown key %q%s", at, name, suggest.DidYouMean(name, settable(s.flags))))
		case s.flags.Changed(name):
		default:
			if err := s.setFromFile(name, values[name]); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", at, err))
			}
			s.origins[name] = at
		}
	}
	return errors.Join(errs...)
}

// setFromFile sets a flag to a value of the file: a scalar, a list for a flag with several values,
// or a map for feature gates.
func (s *flagSources) setFromFile(name string, value any) error {
	flag := s.flags.Lookup(name)
	switch value := value.(type) {
	case string, bool, json.Number:
		return s.flags.Set(name, fmt.Sprint(value))
	case []any:
		target, ok := flag.Value.(pflag.SliceValue)
		if !ok {
			return fmt.Errorf("%q has one value, not a list", name)
		}
		flag.Changed = true
		return target.Replace(texts(value))
	case map[string]any:
		if _, ok := flag.Value.(*featureGates); ok {
			return s.flags.Set(name, pairs(value))
		}
	}
	return fmt.Errorf("%q needs a value, such as text, a number or true", name)
}

func texts(values []any) []string {
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = fmt.Sprint(value)
	}
	return list
}

// pairs returns NAME=VALUE for each key, separated by commas.
func pairs(values map[string]any) string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		list = append(list, fmt.Sprintf("%s=%v", key, values[key]))
	}
	return strings.Join(list, ",")
}

// explain adds the sources of values to the lines of an error that name a flag or its value.
func (s *flagSources) explain(err error) error {
	if err == nil || len(s.origins) == 0 {
		return err
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		for _, name := range slices.Sorted(maps.Keys(s.origins)) {
			if s.concerns(line, name) {
				lines[i] += fmt.Sprintf(" (--%s is from %s)", name, s.origins[name])
			}
		}
	}
	if text := strings.Join(lines, "\n"); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// concerns reports whether an error names a flag or quotes its value.
func (s *flagSources) concerns(line, name string) bool {
	flag := s.flags.Lookup(name)
	values := []string{flag.Value.String()}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	return strings.Contains(line, "--"+name) || slices.ContainsFunc(values, func(value string) bool {
		return value != "" && strings.Contains(line, strconv.Quote(value))
	})
}

// position returns file:line of a key, or the file if the key does not begin a line.
func position(file string, data []byte, key string) string {
	pattern := regexp.MustCompile(`^["']?` + regexp.QuoteMeta(key) + `["']?\s*:`)
	line := 0
	for text := range strings.Lines(string(data)) {
		if line++; pattern.MatchString(text) {
			return fmt.Sprintf("%s:%d", file, line)
		}
	}
	return file
}

// useNumber keeps numbers as they are written.
func useNumber(decoder *json.Decoder) *json.Decoder {
	decoder.UseNumber()
	return decoder
}

// warnOfVariables warns of each environment variable that is probably the misspelled variable of a
// flag. Other unknown variables are ignored: in a cluster, a Service with the name miniapi sets
// MINIAPI_PORT and others.
func warnOfVariables(out io.Writer, root *cobra.Command) {
	known := knownVariables(root)
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		word, ok := strings.CutPrefix(name, envPrefix)
		if !ok || slices.Contains(known, word) {
			continue
		}
		if near := suggest.Nearest(word, known); near != "" {
			fmt.Fprintf(out, "%s: ignored the environment variable %s: did you mean %s?\n", root.Name(), name, envPrefix+near)
		}
	}
}

// knownVariables returns the variables of all commands and of package miniapitest, without
// envPrefix.
func knownVariables(root *cobra.Command) []string {
	known := []string{"BIN", "KEEP", "KUBECONFIG"} // of package miniapitest
	for _, cmd := range append(root.Commands(), root) {
		prefix, ok := cmd.Annotations[prefixAnnotation]
		if !ok {
			continue
		}
		for _, name := range settable(cmd.Flags()) {
			known = append(known, strings.TrimPrefix(variableOf(prefix, name), envPrefix))
		}
	}
	return known
}
