package api

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// TestTranscripts sends the requests in the transcripts and compares the responses. Lines with "> "
// are requests: method and path, headers, an empty line and a body; WATCH N reads N events of a
// watch. Lines with "< " are responses. Other lines are comments. Names such as UID1, RV2 and
// TOKEN1 replace values in the order of their appearance, in requests too. The flag -update
// rewrites the responses.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := &player{testServer: newTestServer(t, nil), names: map[string]string{}, counts: map[string]int{}}
			got := p.play(string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want), got); diff != "" && !*update {
				t.Errorf("the responses differ (-want +got):\n%s", diff)
			}
		})
	}
}

// player replays one transcript.
type player struct {
	*testServer
	names  map[string]string // value to name
	counts map[string]int
}

// play returns the text with the received responses.
func (p *player) play(text string) string {
	var out strings.Builder
	var request []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		sent, isRequest := strings.CutPrefix(line, ">")
		if !isRequest && len(request) > 0 {
			out.WriteString(p.exchange(request))
			request = nil
		}
		if isRequest {
			request = append(request, strings.TrimPrefix(sent, " "))
		}
		if !strings.HasPrefix(line, "<") {
			out.WriteString(line + "\n")
		}
	}
	if len(request) > 0 {
		out.WriteString(p.exchange(request))
	}
	return out.String()
}

// exchange sends a request and formats the response.
func (p *player) exchange(request []string) string {
	for i, line := range request {
		request[i] = p.values(line)
	}
	method, path, _ := strings.Cut(request[0], " ")
	headers, body := request[1:], ""
	for i, line := range headers {
		if line == "" {
			headers, body = headers[:i], strings.Join(headers[i+1:], "\n")
			break
		}
	}
	if method == "WATCH" {
		return p.watch(path, headers)
	}
	return p.format(p.do(method, path, body, headers...))
}

func (p *player) watch(arguments string, headers []string) string {
	var n int
	var path string
	if _, err := fmt.Sscan(arguments, &n, &path); err != nil {
		p.t.Fatalf("WATCH %s: %v", arguments, err)
	}
	// A watch with too few events ends at its timeout.
	res := p.open("GET", path+"&timeoutSeconds=60", "", headers...)
	defer res.Body.Close()
	out := fmt.Sprintf("< %d %s\n", res.StatusCode, res.Header.Get("Content-Type"))
	scanner := bufio.NewScanner(res.Body)
	scanner.Buffer(nil, 1<<20)
	for range n {
		if !scanner.Scan() {
			return out + "< (end)\n"
		}
		out += "< " + p.compact(scanner.Text()) + "\n"
	}
	return out
}

func (p *player) format(r reply) string {
	out := fmt.Sprintf("< %d %s\n", r.status, r.header.Get("Content-Type"))
	for _, name := range []string{"Warning", "Retry-After", "Allow"} {
		for _, value := range r.header.Values(name) {
			out += "< " + name + ": " + value + "\n"
		}
	}
	if r.header.Get("Content-Type") == "application/json" {
		r.body = p.compact(r.body)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(p.rename(r.body), "\n"), "\n") {
		out += "< " + line + "\n"
	}
	return out
}

// compact formats a document on one line and reduces the columns of Tables to their names.
func (p *player) compact(document string) string {
	var value any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		return document
	}
	shorten(value)
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return document
	}
	return p.rename(strings.TrimSuffix(out.String(), "\n"))
}

// shorten reduces the columns of a Table to their names.
func shorten(value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		return
	}
	shorten(fields["object"])
	columns, _ := fields["columnDefinitions"].([]any)
	for i, column := range columns {
		columns[i] = column.(map[string]any)["name"]
	}
}

var volatile = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"UID", regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)},
	{"RV", regexp.MustCompile(`resourceVersion[\\"]*: ?[\\"]*([0-9]+)`)},
	{"TOKEN", regexp.MustCompile(`eyJ[A-Za-z0-9_-]+`)},
	{"TIME", regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z`)},
	{"AGE", regexp.MustCompile(`"([0-9]+s)"`)},
	{"IP", regexp.MustCompile(`\b10\.[0-9]+\.[0-9]+\.[0-9]+\b`)},
}

// rename replaces values that differ between runs by names.
func (p *player) rename(text string) string {
	for _, v := range volatile {
		text = v.pattern.ReplaceAllStringFunc(text, func(found string) string {
			value := found
			if groups := v.pattern.FindStringSubmatch(found); len(groups) > 1 {
				value = groups[1]
			}
			return strings.Replace(found, value, p.nameOf(v.name, value), 1)
		})
	}
	return text
}

func (p *player) nameOf(kind, value string) string {
	if kind == "TIME" || kind == "AGE" {
		return kind
	}
	key := kind + "/" + value
	if p.names[key] == "" {
		p.counts[kind]++
		p.names[key] = fmt.Sprintf("%s%d", kind, p.counts[kind])
	}
	return p.names[key]
}

var named = regexp.MustCompile(`\b(UID|RV|TOKEN)[0-9]+\b`)

// values replaces the names in a request by their values.
func (p *player) values(text string) string {
	return named.ReplaceAllStringFunc(text, func(name string) string {
		for key, n := range p.names {
			if n == name {
				_, value, _ := strings.Cut(key, "/")
				return value
			}
		}
		p.t.Fatalf("%s has not appeared yet: %s", name, text)
		return ""
	})
}
