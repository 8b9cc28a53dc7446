package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

func TestTimelineShowsConflictsAndDeletion(t *testing.T) {
	p := open(t, played(t), "#/object/apps/v1/deployments/shop/web/timeline")
	p.await("document.querySelectorAll('.diff ins').length > 0")
	for selector, want := range map[string]int{
		".chart .mark.created": 2, ".chart .mark.deleted": 1, ".chart .mark.finalizers": 1, ".chart .mark.terminating": 1,
		".chart .conflict": 4, ".chart .clash": 4, ".chart .label": 5, ".chart .life": 2, ".versions tbody tr.bad": 4,
	} {
		if got := eval[int](p, fmt.Sprintf("document.querySelectorAll(%q).length", selector)); got != want {
			t.Errorf("%d elements %s, want %d", got, selector, want)
		}
	}
	// Any two versions can be compared, also of different generations of the object.
	p.do(chromedp.Evaluate("document.querySelectorAll('.chart .mark')[0].dispatchEvent(new MouseEvent('click', { shiftKey: true }))", nil))
	p.await("/^Revision \\d+ to \\d+$/.test(document.querySelector('.diff h2').textContent) && document.querySelector('input[name=from]:checked').value === document.querySelectorAll('.chart .mark .revision')[0].textContent")
	p.await("[...document.querySelectorAll('.diff del')].some((line) => line.textContent.includes('uid:'))")
}

func TestConflictsShowThreeVersions(t *testing.T) {
	p := open(t, played(t), "#/conflicts")
	p.await(cells + ".length === 4")
	p.awaitText(".count", "4 conflicts")
	p.do(chromedp.Click(".grid tbody tr td:nth-child(2)", chromedp.ByQuery))
	p.awaitText(".detail .plain .bad", `.metadata.labels.version"1.1""1.2""scaled"`)
	p.do(chromedp.Click(".detail a", chromedp.ByQuery))
	p.awaitText("h1", "shop/web")
}

func TestWatchesShowClients(t *testing.T) {
	server := start(t, miniapi.Config{})
	watch, err := clientOf(t, server).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{LabelSelector: "a=b"})
	check(t, err)
	defer watch.Stop()
	p := open(t, server, "#/watches")
	p.await(cells + ".some((row) => row.startsWith('configmaps|default · a=b|test|system:admin|'))")
	p.awaitText(".count", "1 watch, all up to date")
	watch.Stop()
	p.awaitText(".count", "0 watches")
}

func TestRequestsAreSummed(t *testing.T) {
	server := start(t, miniapi.Config{})
	c := clientOf(t, server).CoreV1().ConfigMaps("default")
	for range 3 {
		_, err := c.Get(t.Context(), "none", metav1.GetOptions{})
		if err == nil {
			t.Fatal("found")
		}
	}
	p := open(t, server, "#/requests")
	p.await(cells + ".some((row) => /^test.get.configmaps.0\\.\\d.3.0.3.[\\d.]+ ms/.test(row))")
	p.do(chromedp.Click(".grid tbody tr td:nth-child(2)", chromedp.ByQuery))
	p.awaitText(".detail", "GET /api/v1/namespaces/default/configmaps/none")
	p.awaitText(".detail", "404 NotFound")
	p.await("!" + cells + ".some((row) => row.startsWith('Mozilla'))")
	p.do(chromedp.Click("input[name=own]", chromedp.ByQuery))
	p.await(cells + ".some((row) => row.startsWith('Mozilla'))")
}

// The switch deletes a fault and creates it again.
func TestFaultsAreSwitched(t *testing.T) {
	server := start(t, miniapi.Config{})
	p := open(t, server, "#/faults")
	names := func() string {
		var found []string
		for _, fault := range server.Faults().List() {
			found = append(found, fault.ID)
		}
		return strings.Join(found, " ")
	}
	p.await("document.getElementById('switch-short-watches') !== null")
	for _, want := range []string{"true", "false", "true"} {
		p.do(chromedp.Focus("#switch-short-watches", chromedp.ByQuery))
		p.press(kb.Enter)
		p.await("document.getElementById('switch-short-watches').ariaChecked === '" + want + "' && document.activeElement.id === 'switch-short-watches'")
		if got := names(); (got == "short-watches") != (want == "true") {
			t.Errorf("faults %q after a switch to %s", got, want)
		}
	}
	p.do(chromedp.Click("#Delete-short-watches", chromedp.ByQuery))
	p.awaitText(".count", "0 faults on")

	p.do(chromedp.Click("form .primary", chromedp.ByQuery)) // the fault in the form loses two updates of Deployments
	p.await("/fault-.*update deployments|fault-.*verbs=update/.test(document.querySelector('.faults').innerText.replaceAll('\\n', ' '))")
	if len(server.Faults().List()) != 1 {
		t.Errorf("faults %q", names())
	}
	p.do(chromedp.SetValue("textarea", "kind: Fault\napiVersion: miniapi.dev/v1alpha1\nspec: {effect: {}}\n", chromedp.ByQuery), chromedp.Click("form .primary", chromedp.ByQuery))
	p.awaitText(".problem", "invalid")
	p.ignored = []string{"422"}
}

func TestStatusShowsRevisionAndDatabase(t *testing.T) {
	server := start(t, miniapi.Config{})
	p := open(t, server, "")
	created, err := clientOf(t, server).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", nil), metav1.CreateOptions{})
	check(t, err)
	p.await("/^Revision" + created.ResourceVersion + "Oldest1Database[\\d.]+ [KM]iB$/.test(document.getElementById('status').textContent)")
}

// Without the test APIs the views that need them are absent.
func TestPageWithoutTestAPIs(t *testing.T) {
	server, err := miniapi.Start(t.Context(), miniapi.Config{UI: true})
	check(t, err)
	t.Cleanup(func() { check(t, server.Stop(context.Background())) })
	p := open(t, server, "")
	p.await("document.getElementById('views').textContent === 'Objects'")
	p.await(cells + ".some((row) => row.startsWith('kube-system'))")
}

// contrasts returns the least contrast of texts on the backgrounds of the page.
const contrasts = `(() => {
	const probe = document.body.appendChild(document.createElement('div'));
	const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
	const luminance = (name) => {
		probe.style.color = 'var(' + name + ')';
		canvas.fillStyle = getComputedStyle(probe).color;
		canvas.fillRect(0, 0, 1, 1);
		const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
			.map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const results = [];
	for (const [text, backgrounds] of Object.entries({
		'--text': ['--page', '--raised', '--hover', '--chosen'], '--muted': ['--page', '--raised'], '--accent': ['--page', '--raised', '--hover', '--chosen'],
		'--bad': ['--page', '--bad-page', '--hover'], '--good': ['--good-page'], '--warn': ['--page', '--hover'],
	})) for (const background of backgrounds) {
		const [a, b] = [luminance(text), luminance(background)].sort().reverse();
		const ratio = (a + 0.05) / (b + 0.05);
		if (!(ratio >= 4.5)) results.push(text + ' on ' + background + ': ' + ratio.toFixed(2));
	}
	probe.remove();
	return results.join(', ');
})()`

func TestLightAndDarkHaveContrast(t *testing.T) {
	server := start(t, miniapi.Config{})
	p := open(t, server, "")
	p.await("document.querySelectorAll('.kinds a').length > 50")
	background := "getComputedStyle(document.body).backgroundColor"
	for scheme, want := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"} {
		p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		if got := eval[string](p, background); got != want {
			t.Errorf("%s: background %s, want %s", scheme, got, want)
		}
		if low := eval[string](p, contrasts); low != "" {
			t.Errorf("%s: contrast below 4.5: %s", scheme, low)
		}
	}
	// The switch overrules the system, and the choice is kept.
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}))
	p.do(chromedp.Click("#theme", chromedp.ByQuery), chromedp.Click("#theme", chromedp.ByQuery))
	p.await(background + " === 'rgb(20, 23, 27)'")
	p.do(chromedp.Reload())
	p.await(background + " === 'rgb(20, 23, 27)'")
	p.do(chromedp.Evaluate("localStorage.clear()", nil))
}

// Over TLS the page itself is public, and its requests need a token.
func TestTokenOverTLS(t *testing.T) {
	server := start(t, miniapi.Config{Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC})
	p := open(t, server, "")
	// The server ends the connection after a request without credentials, whatever else is sent on
	// it.
	p.ignored = []string{"status of 401", "status of 403", "Failed to load resource: net::ERR_"}
	token := server.RESTConfig().BearerToken
	p.awaitText("h1", "Sign in")
	p.do(chromedp.SendKeys("input[name=token]", "wrong", chromedp.ByQuery), chromedp.Click("form button", chromedp.ByQuery))
	p.awaitText("h1", "Sign in")
	p.do(chromedp.Navigate(server.URL() + "/ui/#token=" + token))
	p.await(cells + ".some((row) => row.startsWith('kube-system'))")
	if address := eval[string](p, "location.href + JSON.stringify(localStorage)"); strings.Contains(address, token) {
		t.Errorf("the token is left in %s", address)
	}
}
