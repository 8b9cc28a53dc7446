package recording

import (
	"net/http"
	"slices"
	"strings"

	"github.com/miniapi/miniapi/testapi/conflicts"
)

// explanations are the reasons of the causes by which miniapi explains a conflict.
var explanations = []any{
	string(conflicts.CauseInterveningWrite), string(conflicts.CauseFieldChangedByBoth),
	string(conflicts.CauseDifferentFields), string(conflicts.CauseUnknownBase),
}

// removeExplanation removes the explanation of a conflict from an answer. Other API servers do not
// send it, and it contains times and revisions.
func (a *answer) removeExplanation(value any) {
	if a.code != http.StatusConflict {
		return
	}
	a.warnings = slices.DeleteFunc(slices.Clone(a.warnings), func(w string) bool { return strings.HasPrefix(w, `299 - "conflict: `) })
	status, _ := value.(map[string]any)
	details, _ := status["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	causes = slices.DeleteFunc(causes, func(cause any) bool {
		c, _ := cause.(map[string]any)
		return slices.Contains(explanations, c["reason"])
	})
	if len(causes) == 0 {
		delete(details, "causes")
		return
	}
	details["causes"] = causes
}
