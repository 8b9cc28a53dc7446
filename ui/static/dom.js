// Elements are built from text nodes and attributes only. Data of the server never becomes markup,
// which the Content-Security-Policy enforces (trusted-types 'none').

const svgNamespace = 'http://www.w3.org/2000/svg';

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

// h returns an HTML element. The attribute "on" has event listeners by name.
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

// svg returns an SVG element.
export function svg(tag, attributes, ...children) {
  return build(document.createElementNS(svgNamespace, tag), attributes, children);
}

// announce makes a screen reader read a text.
export function announce(text) {
  document.getElementById('announcer').textContent = text;
}

// problem returns a message about an error.
export function problem(error) {
  return h('p', { class: 'problem', role: 'alert' }, error.message);
}

// field returns an input with its label.
export function field(label, input) {
  return h('label', { class: 'field' }, h('span', {}, label), input);
}

// tabs returns a tab list whose tabs are links: [{ id, label, href }].
export function tabs(label, list, current) {
  const links = list.map((tab) => h('a', {
    href: tab.href, role: 'tab', id: 'tab-' + tab.id, 'aria-controls': 'panel',
    'aria-selected': tab.id === current ? 'true' : 'false', tabindex: tab.id === current ? 0 : -1,
  }, tab.label));
  const onKey = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (links.indexOf(document.activeElement) + step + links.length) % links.length;
    links[next].click();
  };
  return h('div', { class: 'tabs', role: 'tablist', 'aria-label': label, on: { keydown: onKey } }, links);
}
