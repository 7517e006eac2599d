// The page: looks every second whether something was recorded, and draws what has changed.

import { Away, element, part, send } from "./api.js";
import { isDirty, listen, restoreDraft } from "./forms.js";
import { begin, place, refresh as profile } from "./profiler.js";
import { prepare } from "./table.js";

const byId = (id) => document.getElementById(id);
const news = byId("news");
const toast = byId("toast");
const trouble = byId("trouble");
const dialog = byId("opened");
const OWN = 10000; // milliseconds for which the answer to one's own form is kept
let seen = 0;
let changes = null;
let begun = false;
let drawing = null;
let again = false;
let stalled = true; // nothing was drawn yet, or something could not be
let opened = ""; // the card that was unfolded as the first
let own = { said: "", trials: [], until: 0 }; // what was done on this page a moment ago

history.replaceState(null, "", "/" + location.hash); // the token need not stay in sight

function swap(holder, pieces) {
  const focused = holder.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = holder.querySelector(".scroll")?.scrollTop ?? 0;
  holder.replaceChildren(pieces);
  holder.removeAttribute("aria-busy");
  return () => {
    const scroll = holder.querySelector(".scroll");
    if (scroll) { scroll.scrollTop = scrolled; }
    if (focused) { byId(focused)?.focus({ preventScroll: true }); }
  };
}

function stale(card) {
  if (card.querySelector(".stale")) { return; }
  const number = card.id.replace(/\D/g, "");
  const note = element("p", "stale", "This trial has changed meanwhile, by another page or worker. What you typed is still here. ");
  const look = element("button", "", "Look at it");
  look.type = "button";
  look.addEventListener("click", () => open(number));
  const drop = element("button", "", "Put it away");
  drop.type = "button";
  drop.addEventListener("click", () => {
    card.querySelectorAll('input[type="text"]').forEach((each) => { each.value = ""; });
    card.dispatchEvent(new Event("input", { bubbles: true }));
    card.remove();
    draw();
  });
  note.append(look, " ", drop);
  note.setAttribute("role", "alert");
  card.prepend(note);
  unfold(card);
}

function unfold(card) {
  const fold = card?.querySelector("details.fold");
  if (fold) { fold.open = true; }
}

// Cards that have not changed stay as they are, with what was typed; others are replaced.
async function drawNext() {
  const pieces = await part("next");
  const holder = byId("cards");
  const fresh = new Map(Array.from(pieces.children, (each) => [each.id, each]));
  for (const old of Array.from(holder.children)) {
    const now = fresh.get(old.id);
    const same = now && now.dataset.version === old.dataset.version && old.id !== "plan";
    if (same && old.matches("article")) { fresh.set(old.id, old); }
    else if (old.matches("article") && isDirty(old) && old.querySelector("form")) {
      stale(old);
      fresh.set(old.id, old);
    }
  }
  const open = holder.querySelectorAll("article:has(> details.fold[open])");
  const unfolded = new Set(Array.from(open, (each) => each.id));
  const focused = document.activeElement;
  const kept = new Set(fresh.values());
  for (const old of Array.from(holder.children)) { if (!kept.has(old)) { old.remove(); } }
  let after = null;
  for (const each of fresh.values()) {
    if (each.parentElement !== holder) {
      if (after) { after.after(each); } else { holder.prepend(each); }
      if (each.matches("article")) { restoreDraft(each); }
      if (unfolded.has(each.id) || isDirty(each)) { unfold(each); }
    }
    after = each;
  }
  const first = holder.querySelector("article.trial:not(.quiet)");
  if (first && first.id !== opened) { unfold(first); } // the others open when asked
  opened = first?.id ?? "";
  if (focused && focused !== document.activeElement) {
    (focused.isConnected ? focused : byId("next-title")).focus(); // somewhere near, if it is gone
  }
  holder.removeAttribute("aria-busy");
}

async function drawExpected() {
  const { expected } = await send("/view/expected", {});
  document.querySelectorAll(".expected[data-trial]").forEach((each) => {
    const text = expected[each.dataset.trial];
    each.textContent = text === undefined ? "" : (each.matches("td") ? "" : "expected ") + text;
  });
}

// Fades the edge beyond which a wide table goes on.
function cue(holder) {
  const left = holder.scrollWidth - holder.clientWidth - holder.scrollLeft;
  holder.classList.toggle("more-right", left > 2);
  holder.classList.toggle("more-left", holder.scrollLeft > 2);
}
const sizes = new ResizeObserver((found) => found.forEach((each) => cue(each.target)));

async function drawPart(name, id) {
  const holder = byId(id);
  holder.setAttribute("aria-busy", "true");
  const settle = swap(holder, await part(name));
  if (name === "trials") { prepare(holder, open); }
  holder.querySelectorAll(".scroll").forEach((each) => {
    each.tabIndex = 0; // so that a keyboard scrolls it
    each.addEventListener("scroll", () => cue(each), { passive: true });
    sizes.observe(each);
    each.setAttribute("role", "region");
    each.setAttribute("aria-label", holder.querySelector("h2")?.textContent ?? "Table");
  });
  settle();
}

async function drawVerdict() {
  const place_ = byId("verdict");
  if (!place_) { return; } // several goals have no price
  try {
    const found = await send("/view/verdict", { cost: byId("cost").value });
    place_.textContent = found.said;
    place_.className = found.stop ? "stop-now" : "";
  } catch (error) { place_.textContent = error.message; }
}

// One drawing at a time; what changes meanwhile is drawn after it.
function draw() {
  if (drawing) {
    again = true;
    return drawing;
  }
  drawing = (async () => {
    do {
      again = false;
      await drawNext();
      const { counts, blocks } = await send("/view/overview", {});
      byId("counts").textContent = "· " + counts;
      byId("blocks").replaceChildren(...blocks.map((each) => new Option(each, each)));
      await drawPart("trials", "trials-part");
      await drawPart("answer", "answer-part");
      await drawExpected();
      if (begun) { await profile(); } else { await begin(); begun = true; }
      await drawPart("check", "check-part");
      await drawVerdict();
    } while (again);
    stalled = false;
    document.documentElement.dataset.drawn = String(seen);
  })().catch((error) => {
    stalled = true;
    alarm(error);
  }).finally(() => { drawing = null; });
  return drawing;
}

// What was done here stays in sight for a while, beside what others do; it is not told twice.
function announce(sentences) {
  const kept = performance.now() < own.until ? own : { said: "", trials: [] };
  const isOwn = (each) => kept.trials.some((number) => each.startsWith(`Trial ${number} `));
  say([kept.said, ...sentences.filter((each) => !isOwn(each))].filter(Boolean).join(" "));
}

// At the lower edge of the window, or of the dialog that covers it; the form in hand moves up.
function say(text) {
  const home = dialog.open ? dialog : document.body;
  if (toast.parentElement !== home) { home.append(toast); }
  news.textContent = text;
  toast.classList.toggle("on", text !== "");
  byId("seen").hidden = text === "";
  const height = text === "" ? 0 : toast.offsetHeight;
  document.documentElement.style.scrollPaddingBottom = height + "px";
  document.body.style.paddingBottom = height + "px";
  keepInSight(height);
}

function keepInSight(height) {
  const form = document.activeElement?.closest("form");
  const hidden = form ? form.getBoundingClientRect().bottom + 8 - (innerHeight - height) : 0;
  const scroller = dialog.open ? dialog : window;
  if (height && hidden > 0 && hidden < innerHeight) { scroller.scrollBy(0, hidden); }
}

function hush() {
  own.said = "";
  say("");
}

function alarm(error) {
  const kept = error instanceof Away
    ? " Nothing is lost, and what you typed stays here. " + error.advice
    : "";
  trouble.textContent = error.message + kept;
}

async function look() {
  let pause = document.hidden ? 4000 : 1000;
  try {
    const found = await send("/view/look", { since: seen });
    trouble.textContent = "";
    if (changes !== null && found.changes !== changes) { location.reload(); } // another space
    changes = found.changes;
    if (found.seq !== seen || stalled) {
      seen = found.seq;
      if (found.news.length) { announce(found.news); }
      await draw();
    }
  } catch (error) {
    alarm(error);
    pause = 2000;
  }
  setTimeout(look, pause);
}

async function fill(number) {
  byId("opened-body").replaceChildren(await part("trial", number));
  byId("opened-body").querySelectorAll("time").forEach((each) => {
    each.textContent = new Date(each.dateTime).toLocaleString();
  });
  dialog.dataset.trial = number;
}

async function open(number) {
  try {
    await fill(number);
    if (!dialog.open) { dialog.showModal(); }
  } catch (error) { alarm(error); }
}

listen(place, hush, async ({ said, trials }, form, goOn) => {
  const before = performance.now() < own.until ? own.trials : [];
  own = { said, trials: [...before, ...trials], until: performance.now() + OWN };
  announce([]);
  if (goOn) {
    await drawNext();
    const card = form.closest("article");
    const at = card?.isConnected ? card : document.querySelector("#cards .trial:not(.quiet)");
    unfold(at);
    const next = at?.querySelector('input[name="value"]') ?? byId("ask-count");
    next.focus();
    keepInSight(toast.offsetHeight);
  }
  if (dialog.open && dialog.contains(form)) { await fill(dialog.dataset.trial); }
  await draw();
});
byId("seen").addEventListener("click", hush);
dialog.addEventListener("close", () => say(news.textContent));
byId("print").addEventListener("click", () => window.print());
let costTimer = 0;
byId("cost")?.addEventListener("input", () => {
  clearTimeout(costTimer);
  costTimer = setTimeout(drawVerdict, 400);
});
look();
