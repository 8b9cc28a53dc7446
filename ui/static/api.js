// Requests to the API server that serves the page.

const base = new URL('..', new URL(location.pathname, location.origin));
const tokenKey = 'miniapi-token';

// ApiError is an error that the server has answered with a Status.
export class ApiError extends Error {
  constructor(code, status) {
    super(status?.message || 'The server answered with code ' + code + '.');
    this.code = code;
    this.status = status;
  }
}

// takeToken moves a token of the fragment (#token=...) to the storage of this tab, so that it is
// neither in the address bar nor in the history.
export function takeToken() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  setToken(decodeURIComponent(found[1]));
  history.replaceState(null, '', '#/objects');
}

export function setToken(token) {
  if (token) sessionStorage.setItem(tokenKey, token);
  else sessionStorage.removeItem(tokenKey);
}

// send sends a request, a GET again if its connection breaks. The server ends a connection of HTTP/2
// after a request without valid credentials, at times while the next request is sent on it.
async function send(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (options.method !== 'GET' || options.signal?.aborted) throw error;
    return fetch(url, options);
  }
}

// request returns a response, or throws an ApiError.
export async function request(path, { accept = 'application/json', method = 'GET', body, type, signal } = {}) {
  const headers = { Accept: accept };
  const token = sessionStorage.getItem(tokenKey);
  if (token) headers.Authorization = 'Bearer ' + token;
  if (type) headers['Content-Type'] = type;
  const response = await send(new URL(path.replace(/^\//, ''), base), { headers, method, body, signal });
  if (response.ok) return response;
  const text = await response.text();
  let status;
  try {
    status = JSON.parse(text);
  } catch {
    status = { message: text.trim() };
  }
  const anonymous = response.status === 403 && !token && status.message?.includes('system:anonymous');
  if (response.status === 401 || anonymous) document.dispatchEvent(new CustomEvent('unauthorized'));
  throw new ApiError(anonymous ? 401 : response.status, status);
}

export async function get(path, options) {
  return (await request(path, options)).json();
}

// stream yields the JSON documents of a watch.
export async function* stream(path, options) {
  const response = await request(path, options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      for (const line of lines) if (line) yield JSON.parse(line);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// sleep resolves after a time, or when the signal is aborted.
export function sleep(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// poll calls a function at once and then periodically while the page is visible, until the signal
// is aborted. The function handles its errors.
export async function poll(call, ms, signal) {
  while (!signal.aborted) {
    if (!document.hidden) await call();
    await sleep(ms, signal);
  }
}

// query returns the query string of the parameters that are not empty.
export function query(parameters) {
  const set = Object.entries(parameters).filter(([, value]) => value !== '' && value !== undefined);
  return set.length ? '?' + new URLSearchParams(set) : '';
}

// pathOf returns the path of a collection or an object.
export function pathOf(kind, namespace, name) {
  const parts = kind.group ? ['apis', kind.group, kind.version] : ['api', kind.version];
  if (kind.namespaced && namespace) parts.push('namespaces', namespace);
  parts.push(kind.resource);
  if (name) parts.push(name);
  return '/' + parts.map(encodeURIComponent).join('/');
}

const discoveryAccept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

// discover returns the kinds that can be listed, in the order of groups: the preferred version of
// each resource.
export async function discover(signal) {
  const documents = await Promise.all(['/api', '/apis'].map((path) => get(path, { accept: discoveryAccept, signal })));
  const kinds = [];
  for (const group of documents.flatMap((document) => document.items)) {
    const seen = new Set();
    for (const version of group.versions) {
      for (const resource of version.resources ?? []) {
        if (seen.has(resource.resource) || !resource.verbs.includes('list')) continue;
        seen.add(resource.resource);
        kinds.push({
          group: group.metadata?.name ?? '', version: version.version, resource: resource.resource,
          kind: resource.responseKind.kind, namespaced: resource.scope === 'Namespaced',
          watched: resource.verbs.includes('watch'),
        });
      }
    }
  }
  return kinds;
}
