package browser_test

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi"
)

// evalAsync returns the value of a promise.
func evalAsync[T any](p *tab, expression string) T {
	p.Helper()
	var value T
	p.do(chromedp.Evaluate(expression, &value, func(params *runtime.EvaluateParams) *runtime.EvaluateParams { return params.WithAwaitPromise(true) }))
	return value
}

// samples is an expression for an object of random texts, most of which look like other types, and
// of texts with line breaks, spaces at ends and unusual characters.
const samples = `(() => {
	let seed = 1;
	const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
	const text = (characters) => Array.from({ length: random(8) }, () => characters[random(characters.length)]).join('');
	const result = { empty: {}, list: [], nested: [[['a'], []], [{ a: 'x\ny\n', b: null }], {}], numbers: [0, -1, 1.5, 1e21], truth: [true, false] };
	for (let i = 0; i < 5000; i++) {
		result['k' + i] = text('0123456789eExob._-+%~= aAnNyY:#/T');
		result['l' + i] = text('a \n\t:-#"\'\\é\u2028\u0085{[|>&*!%@,');
		result[text('ab:#- "~1\n') + i] = [text('a\n b')];
	}
	return result;
})()`

func TestYAMLHasTheSameContent(t *testing.T) {
	p := open(t, start(t, miniapi.Config{}), "")
	texts := evalAsync[[]string](p, "import('./yaml.js').then(({ toLines }) => { const value = "+samples+"; return [toLines(value).join('\\n') + '\\n', JSON.stringify(value)]; })")
	decoded, err := yaml.YAMLToJSON([]byte(texts[0]))
	check(t, err)
	var got, want map[string]any
	check(t, json.Unmarshal(decoded, &got))
	check(t, json.Unmarshal([]byte(texts[1]), &want))
	if len(got) != len(want) || len(want) < 10_000 {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
	for key, value := range want {
		a, _ := json.Marshal(got[key])
		b, _ := json.Marshal(value)
		if string(a) != string(b) {
			t.Fatalf("%q: got %s, want %s", key, a, b)
		}
	}
}

// The edits of a difference contain both texts, also if the limit of steps is exceeded, and no
// shorter difference of a small change exists.
func TestDiffContainsBothTexts(t *testing.T) {
	p := open(t, start(t, miniapi.Config{}), "")
	wrong := evalAsync[string](p, `import('./diff.js').then(({ diff, hunks }) => {
		let seed = 1;
		const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
		const text = () => Array.from({ length: random(9) }, () => 'abc'[random(3)]);
		for (let i = 0; i < 20000; i++) {
			const [a, b] = [text(), text()];
			const edits = diff(a, b, i % 5 === 0 ? 2 : undefined);
			const side = (kind) => edits.filter((edit) => edit.kind !== kind).map((edit) => edit.text).join();
			if (side('+') !== a.join() || side('-') !== b.join()) return JSON.stringify([a, b, edits]);
		}
		const lines = Array.from({ length: 50 }, (_, i) => String(i));
		const groups = hunks(diff(lines, lines.toSpliced(10, 1, 'x').toSpliced(40, 0, 'y')));
		return groups.map((group) => group.length).join() === '8,7' ? '' : JSON.stringify(groups);
	})`)
	if wrong != "" {
		t.Errorf("wrong: %s", wrong)
	}
}
