package browser_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/test/e2e/browser/chrome"
	"github.com/miniapi/miniapi/test/e2e/browser/scene"
)

// requireEnv makes the tests fail instead of skip without Chromium, if it is set to true.
const requireEnv = "MINIAPI_REQUIRE_BROWSER"

// browser is nil without Chromium.
var browser *chrome.Browser

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if path := chrome.Find(); path != "" {
		started, stop, err := chrome.Start(context.Background(), path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer stop()
		browser = started
	}
	return m.Run()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start returns a server with the page and the test APIs.
func start(t *testing.T, config miniapi.Config) *miniapi.Server {
	t.Helper()
	config.TestAPIs, config.UI = true, true
	return servertest.Start(t, config)
}

// played returns a server with the objects of the scene.
func played(t *testing.T) *miniapi.Server {
	t.Helper()
	server := start(t, miniapi.Config{})
	check(t, scene.Play(t.Context(), server.RESTConfig()))
	return server
}

// tab is a tab of a test.
type tab struct {
	*testing.T
	*chrome.Tab
	// ignored are parts of errors that the test expects.
	ignored []string
}

// open opens a route of the page. The test fails if the page logs an error, such as an exception or
// a violation of the Content-Security-Policy.
func open(t *testing.T, server *miniapi.Server, route string) *tab {
	t.Helper()
	if browser == nil {
		const missing = "no Chromium in PATH: apt-get install chromium, or see .ci/browser"
		if os.Getenv(requireEnv) == "true" {
			t.Fatalf("%s requires it: %s", requireEnv, missing)
		}
		t.Skip(missing)
	}
	opened, closeTab, err := browser.Open()
	check(t, err)
	page := &tab{T: t, Tab: opened}
	t.Cleanup(func() {
		page.checkProblems()
		closeTab()
	})
	page.do(chromedp.EmulateViewport(1280, 720), chromedp.Navigate(server.URL()+"/ui/"+route))
	return page
}

func (p *tab) checkProblems() {
	for _, problem := range p.Problems() {
		expected := false
		for _, part := range p.ignored {
			expected = expected || strings.Contains(problem, part)
		}
		if !expected {
			p.Errorf("the page reports: %s", problem)
		}
	}
}

// patience limits every wait for the page. A passing test does not reach it, on a busy machine
// neither.
const patience = 10 * time.Minute

// do performs actions. If they take too long, the test fails with the text of the page.
func (p *tab) do(actions ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	if err := p.Tab.Run(ctx, actions...); err != nil {
		var text string
		_ = p.Tab.Run(p.Context(), chromedp.Evaluate("location.href + '\\n' + document.body.innerText", &text))
		p.checkProblems()
		p.Fatalf("%v; the page shows:\n%s", err, text)
	}
}

// await waits until an expression is true. An exception, for example because an element does not
// exist yet, counts as false.
func (p *tab) await(expression string) {
	p.Helper()
	p.do(chromedp.Poll("(() => { try { return "+expression+"; } catch { return false; } })()", nil, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience)))
}

// awaitText waits until an element contains a text.
func (p *tab) awaitText(selector, text string) {
	p.Helper()
	p.await(fmt.Sprintf("(document.querySelector(%q)?.textContent ?? '').includes(%q)", selector, text))
}

// eval returns the value of an expression.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	var value T
	p.do(chromedp.Evaluate(expression, &value))
	return value
}

// cells is an expression for the texts of the rows that have elements.
const cells = "[...document.querySelectorAll('.grid tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent).join('|'))"

// press sends a key to the focused element.
func (p *tab) press(keys ...string) {
	p.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}
