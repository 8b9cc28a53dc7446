import { setToken, takeToken, get, poll, discover } from './api.js';
import { h, field, problem } from './dom.js';
import { bytes, number } from './format.js';
import { hasTestAPI, showObjects } from './objects.js';
import { showObject } from './object.js';
import { showConflicts } from './conflicts.js';
import { showWatches } from './watches.js';
import { showRequests } from './requests.js';
import { showFaults } from './faults.js';

// A view is { id, label, needs, show(main, route, context) }. needs is the resource of the group
// miniapi.dev that the view shows. show may start work that ends with context.signal.
const views = [
  { id: 'objects', label: 'Objects', show: showObjects },
  { id: 'object', show: showObject },
  { id: 'conflicts', label: 'Conflicts', needs: 'conflicts', show: showConflicts },
  { id: 'watches', label: 'Watches', needs: 'watches', show: showWatches },
  { id: 'requests', label: 'Requests', needs: 'requests', show: showRequests },
  { id: 'faults', label: 'Faults', needs: 'faults', show: showFaults },
];

const main = document.getElementById('main');
let running;

// parseRoute parses #/view/segment/...?parameter=value.
function parseRoute() {
  const [path, search = ''] = location.hash.slice(1).split('?');
  const [id = '', ...segments] = path.split('/').filter(Boolean).map(decodeURIComponent);
  return { id: id || 'objects', segments, parameters: new URLSearchParams(search) };
}

async function navigate() {
  const route = parseRoute();
  const view = views.find((v) => v.id === route.id) ?? views[0];
  running?.abort();
  const controller = running = new AbortController();
  const moved = main.dataset.view !== undefined && main.dataset.view !== location.hash.split('?')[0];
  main.dataset.view = location.hash.split('?')[0];
  try {
    context.kinds ??= await discover(controller.signal);
    if (controller.signal.aborted) return;
    showNavigation(view);
    main.className = 'view-' + view.id;
    document.title = (view.label ?? route.segments.at(-1) ?? 'Object') + ' · miniapi';
    await view.show(main, route, { ...context, signal: controller.signal });
    if (moved && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
  } catch (error) {
    if (!controller.signal.aborted && error.code !== 401) main.replaceChildren(problem(error));
  }
}

const context = {
  kinds: undefined,
  // reload reads the kinds again.
  async reload() { context.kinds = await discover(); return context.kinds; },
};

function showNavigation(current) {
  const shown = views.filter((view) => view.label && (!view.needs || hasTestAPI(context.kinds, view.needs)));
  document.getElementById('views').replaceChildren(h('ul', {}, shown.map((view) => h('li', {}, h('a', {
    href: '#/' + view.id,
    'aria-current': view.id === current.id || (view.id === 'objects' && current.id === 'object') ? 'page' : undefined,
  }, view.label)))));
}

// askForToken replaces the view by a form for a bearer token.
function askForToken() {
  running?.abort();
  const input = h('input', { type: 'password', name: 'token', required: true, autocomplete: 'off', spellcheck: 'false' });
  const form = h('form', {
    class: 'card', on: {
      submit(event) {
        event.preventDefault();
        setToken(input.value.trim());
        navigate();
      },
    },
  }, h('h1', {}, 'Sign in'), h('p', {}, 'This server requires a bearer token. The command ', h('code', {}, 'miniapi ui'), ' prints a URL with the token of a kubeconfig.'),
  field('Token', input), h('button', { class: 'primary' }, 'Sign in'));
  main.className = 'view-token';
  main.replaceChildren(form);
  input.focus();
}

async function showStatus() {
  const list = document.getElementById('status');
  if (!context.kinds || !hasTestAPI(context.kinds, 'servers')) return;
  const entry = (label, value, title) => h('div', { title }, h('dt', {}, label), h('dd', {}, value));
  try {
    const server = (await get('/apis/miniapi.dev/v1alpha1/servers')).items[0];
    const history = server.historySeconds ? 'History is kept for ' + server.historySeconds + ' s.' : 'History is kept for ever.';
    list.classList.remove('lost');
    list.replaceChildren(
      entry('Revision', number(server.revision), 'The latest revision'),
      entry('Oldest', number(server.oldestRevision), 'Earlier revisions are compacted. ' + history),
      entry('Database', bytes(server.databaseBytes), bytes(server.databaseBytesInUse) + ' in use'),
    );
    list.title = 'miniapi ' + server.version + ', Kubernetes ' + server.kubernetesVersion;
  } catch (error) {
    list.classList.add('lost');
    if (!error.code) list.replaceChildren(entry('Server', 'not reachable', error.message));
  }
}

const themes = { auto: 'light', light: 'dark', dark: 'auto' };

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem('miniapi-theme', theme);
  const button = document.getElementById('theme');
  button.textContent = { auto: '◐', light: '☀', dark: '☾' }[theme];
  button.title = 'Theme: ' + theme;
  button.setAttribute('aria-label', 'Theme: ' + theme + '. Switch to ' + themes[theme] + '.');
}

function start() {
  takeToken();
  applyTheme(themes[localStorage.getItem('miniapi-theme')] ? localStorage.getItem('miniapi-theme') : 'auto');
  document.getElementById('theme').addEventListener('click', () => applyTheme(themes[document.documentElement.dataset.theme]));
  document.getElementById('skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  document.addEventListener('unauthorized', askForToken);
  window.addEventListener('hashchange', () => {
    takeToken();
    navigate();
  });
  navigate();
  poll(showStatus, 2000, new AbortController().signal);
}

start();
