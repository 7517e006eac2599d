// Talks to the server of this page. What the server says goes into the page as text, or as HTML and
// SVG that the server has escaped and that is parsed without running anything.

const token = document.querySelector('meta[name="ceibo-token"]').content;

export class Refused extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

export class Away extends Error {
  constructor(sentence, advice) {
    super(sentence);
    this.advice = advice;
  }
}

async function answer(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    throw new Away(
      "The server of this page does not answer.",
      "Start it again with ceibo serve, and open the link that it prints.",
    );
  }
  if (response.ok) {
    return response;
  }
  const text = await response.text();
  let sentence = text;
  try {
    sentence = JSON.parse(text).error || text;
  } catch (error) { /* not JSON: a plain sentence */ }
  if (response.status === 403) {
    throw new Away("The server was started anew, with another link.", "Open the link that it printed.");
  }
  throw new Refused(sentence, response.status);
}

export async function send(path, data) {
  const headers = { "Content-Type": "application/json", "X-Ceibo-Token": token };
  const response = await answer(path, { method: "POST", headers, body: JSON.stringify(data) });
  return response.json();
}

export async function part(name, of = "") {
  const response = await answer("/part/" + name + "?of=" + encodeURIComponent(of), {});
  return piecesOf(await response.text());
}

export function piecesOf(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const pieces = document.createDocumentFragment();
  pieces.append(...page.body.childNodes);
  return pieces;
}

export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return "page-" + Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
}

export function element(name, kind, text) {
  const made = document.createElement(name);
  if (kind) { made.className = kind; }
  if (text !== undefined) { made.textContent = text; }
  return made;
}
