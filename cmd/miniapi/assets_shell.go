package main

import (
	"fmt"
	"runtime"
	"strings"
)

// defaultShell returns the shell that is usual on this operating system.
func defaultShell() string {
	if runtime.GOOS == "windows" {
		return "powershell"
	}
	return "sh"
}

// assignmentIn returns a function that formats the command which sets an environment variable in a
// shell.
func assignmentIn(shell string) (func(name, value string) string, error) {
	switch shell {
	case "sh":
		return func(name, value string) string { return "export " + name + "=" + shellWord(value) }, nil
	case "powershell":
		return func(name, value string) string { return "$Env:" + name + " = " + powerShellString(value) }, nil
	}
	return nil, fmt.Errorf("--shell %q is not one of sh, powershell", shell)
}

// shellWord quotes s if a shell would not read it as one word.
func shellWord(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// powerShellString quotes s. PowerShell reads the typographic quotes as single quotes too, and two
// of them within a string as one.
func powerShellString(s string) string {
	var quoted strings.Builder
	for _, r := range s {
		if strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) {
			quoted.WriteRune(r)
		}
		quoted.WriteRune(r)
	}
	return "'" + quoted.String() + "'"
}
