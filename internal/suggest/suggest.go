// Package suggest finds the word that a misspelled word was probably meant to be, for error
// messages.
package suggest

import (
	"fmt"
	"strings"
)

// Nearest returns the candidate that differs least from word, "" if none is similar. Case does
// not count. A single letter is similar to nothing.
func Nearest(word string, candidates []string) string {
	nearest, least := "", min(maxDistance(word)+1, len(word))
	for _, candidate := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < least {
			nearest, least = candidate, d
		}
	}
	return nearest
}

// DidYouMean returns the end of an error message with the nearest candidate, "" if none is
// similar.
func DidYouMean(word string, candidates []string) string {
	if nearest := Nearest(word, candidates); nearest != "" {
		return fmt.Sprintf(": did you mean %q?", nearest)
	}
	return ""
}

// maxDistance returns the number of typing errors that are plausible in a word.
func maxDistance(word string) int { return min(max(1, len(word)/4), 3) }

// distance returns the number of insertions, deletions, replacements and swaps of neighboring
// bytes that turn a into b.
func distance(a, b string) int {
	beforeLast, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current := make([]int, len(b)+1)
		current[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			current[j] = min(replace, last[j]+1, current[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last = last, current
	}
	return last[len(b)]
}
