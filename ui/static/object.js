import { get, pathOf, query, sleep, stream } from './api.js';
import { h, problem, tabs } from './dom.js';
import { age } from './format.js';
import { foldRange, toLines } from './yaml.js';
import { findKind, hasTestAPI, kindHref, objectHref } from './objects.js';
import { showTimeline } from './timeline.js';

const maxColoredLines = 4000;

// showObject shows one object: its YAML, its timeline and its Events. Objects are not changed here.
export async function showObject(main, route, context) {
  const [group, version, resource, space, name, tab = 'yaml'] = route.segments;
  const kind = findKind(context.kinds, [group, version, resource]) ?? findKind(await context.reload(), [group, version, resource]);
  if (!kind || !name) throw new Error('The server has no such kind.');
  const object = { kind, name, namespace: space === '-' ? '' : space, path: pathOf(kind, space === '-' ? '' : space, name) };
  const list = [{ id: 'yaml', label: 'YAML', show: showYAML }];
  const stored = kind.group !== 'miniapi.dev';
  if (stored && hasTestAPI(context.kinds, 'conflicts')) list.push({ id: 'timeline', label: 'Timeline', show: showTimeline });
  if (stored) list.push({ id: 'events', label: 'Events', show: showEvents });
  const current = list.find((t) => t.id === tab) ?? list[0];
  for (const t of list) t.href = objectHref(kind, object.namespace, name, t.id);
  const panel = h('div', { id: 'panel', role: 'tabpanel', class: 'panel', 'aria-labelledby': 'tab-' + current.id });
  const focused = document.activeElement?.role === 'tab';
  main.replaceChildren(
    h('div', { class: 'bar' },
      h('a', { href: kindHref(kind) + (object.namespace ? query({ namespace: object.namespace }) : ''), class: 'back' }, kind.kind),
      h('h1', {}, object.namespace && h('span', { class: 'muted' }, object.namespace + '/'), name)),
    tabs('Parts of the object', list, current.id), panel);
  if (focused) document.getElementById('tab-' + current.id).focus();
  await current.show(panel, object, context);
}

// showYAML shows the object and follows its changes.
async function showYAML(panel, object, { signal }) {
  const state = h('p', { class: 'muted state', role: 'status' });
  const text = h('div');
  panel.replaceChildren(state, text);
  let shown = await get(object.path, { signal });
  text.replaceChildren(yamlView(shown));
  state.textContent = 'Live. resourceVersion ' + shown.metadata.resourceVersion;
  if (object.kind.watched) follow();

  async function follow() {
    const parameters = { watch: 1, fieldSelector: 'metadata.name=' + object.name };
    const collection = pathOf(object.kind, object.namespace);
    while (!signal.aborted) {
      try {
        const events = stream(collection + query({ ...parameters, resourceVersion: shown.metadata.resourceVersion }), { signal });
        for await (const event of events) {
          if (event.type === 'ERROR') break;
          const open = text.querySelector('details')?.open;
          shown = event.object;
          text.replaceChildren(yamlView(shown, open));
          state.textContent = (event.type === 'DELETED' ? 'Deleted at ' : 'Live. resourceVersion ') + shown.metadata.resourceVersion;
        }
        await sleep(500, signal);
        const latest = await get(object.path, { signal });
        if (latest.metadata.resourceVersion !== shown.metadata.resourceVersion) {
          shown = latest;
          text.replaceChildren(yamlView(shown));
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error.code === 404) {
          state.textContent = 'Deleted.';
          return;
        }
        state.textContent = error.message;
        await sleep(2000, signal);
      }
    }
  }
}

// yamlView returns an object as YAML with managedFields folded.
export function yamlView(object, open = false) {
  const text = toLines(object);
  const fold = foldRange(text);
  const code = (lines) => h('code', {}, text.length > maxColoredLines ? lines.join('\n') + '\n' : lines.map(colored));
  const view = h('div', { class: 'yaml', role: 'region', 'aria-label': 'YAML', tabindex: 0 });
  const copy = h('button', {
    type: 'button', class: 'quiet copy', on: {
      click() {
        navigator.clipboard.writeText(text.join('\n') + '\n').then(() => { copy.textContent = 'Copied'; }, (error) => { copy.textContent = error.message; });
      },
    },
  }, 'Copy');
  if (fold) {
    const managers = object.metadata.managedFields.map((entry) => entry.manager).join(', ');
    view.append(h('pre', {}, code(text.slice(0, fold[0]))),
      h('details', { open }, h('summary', {}, 'managedFields: ' + managers), h('pre', {}, code(text.slice(...fold)))),
      h('pre', {}, code(text.slice(fold[1]))));
  } else {
    view.append(h('pre', {}, code(text)));
  }
  return h('div', { class: 'document' }, copy, view);
}

// colored returns a line with its key marked.
function colored(line) {
  const match = /^(\s*(?:- )*)((?:"(?:[^"\\]|\\.)*"|[^\s"'#:|>-][^:"]*?):)( .*)?$/.exec(line);
  if (!match) return line + '\n';
  return [match[1], h('span', { class: 'key' }, match[2]), (match[3] ?? '') + '\n'];
}

// showEvents shows the Events that name the object.
async function showEvents(panel, object, { signal }) {
  const { metadata } = await get(object.path, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', signal });
  const path = '/api/v1' + (object.namespace ? '/namespaces/' + encodeURIComponent(object.namespace) : '') + '/events';
  const { items } = await get(path + query({ fieldSelector: 'involvedObject.uid=' + metadata.uid }), { signal });
  const last = (event) => event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
  items.sort((a, b) => Date.parse(last(b)) - Date.parse(last(a)));
  if (!items.length) {
    panel.replaceChildren(h('p', { class: 'empty' }, 'No Events.'));
    return;
  }
  panel.replaceChildren(h('table', { class: 'plain' },
    h('thead', {}, h('tr', {}, ['Age', 'Type', 'Reason', 'From', 'Count', 'Message'].map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, items.map((event) => h('tr', {},
      h('td', {}, age(last(event))), h('td', { class: event.type === 'Warning' ? 'bad' : '' }, event.type ?? ''), h('td', {}, event.reason ?? ''),
      h('td', {}, event.source?.component || event.reportingComponent || ''), h('td', { class: 'number' }, event.series?.count ?? event.count ?? 1),
      h('td', {}, event.message ?? ''))))));
}
