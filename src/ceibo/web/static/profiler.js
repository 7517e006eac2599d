// The profiler and the map: one setting in hand, pictures through it that follow.

import { Away, element, piecesOf, send } from "./api.js";
import { Slice } from "./slices.js";

const root = document.getElementById("profiler");
const said = document.getElementById("profile-said");
const readout = document.getElementById("readout");
const form = root.querySelector("form[data-place]");
const button = form.querySelector("button");
const reason = document.getElementById("why-not");
const spoken = document.getElementById("spoken");
const drawing = document.getElementById("map-picture");
const chosen = (id) => Number(document.getElementById(id)?.value ?? 0);

let axes = [];
let at = [];
let slices = null;
let range = null;
let busy = false;
let waiting = null;
let unread = false; // what was typed last is no value of its parameter
let restTimer = 0;
let spokenTimer = 0;

// The setting in hand, once what was moved or typed has been answered and is a setting.
export async function place() {
  while (busy || waiting) { await new Promise((goOn) => setTimeout(goOn, 20)); }
  if (button.dataset.excluded === "yes") { throw new Error("No trial was made."); }
  return at;
}

// Says why the setting in hand cannot be measured, where the hand is and at the button.
function exclude(why) {
  said.textContent = why;
  reason.textContent = why;
  button.dataset.excluded = why ? "yes" : "";
  button.disabled = why !== "";
}

export async function begin() {
  const start = await send("/view/axes", {});
  axes = start.axes;
  at = start.at;
  root.addEventListener("input", moved);
  root.addEventListener("change", typedExactly);
  for (const [id, to] of [["to-best", "best"], ["to-recommended", "recommended"], ["to-held", "held"]]) {
    document.getElementById(id)?.addEventListener("click", () => jump(to));
  }
  document.getElementById("profile-outcome")?.addEventListener("change", refresh);
  for (const id of ["map-first", "map-second", "map-kind", "map-outcome"]) {
    document.getElementById(id)?.addEventListener("change", drawMap);
  }
  await refresh();
}

export async function refresh() {
  range = null;
  if (!waiting) { await ask({ at, again: true }); } // what waits is drawn anyway
  await drawMap();
}

function moved(event) {
  const control = event.target;
  if (control.dataset.column === undefined || control.classList.contains("exact")) { return; }
  clearTimeout(restTimer); // the hand does not rest
  const column = Number(control.dataset.column);
  const value = Number(control.value);
  const { places, choices } = axes[column];
  at[column] = places ? places[value] : choices ? at[column] : value / 1000;
  ask({ at, column, moving: true }, event.timeStamp);
}

function typedExactly(event) {
  const control = event.target;
  if (!control.classList.contains("exact")) { return; }
  if (control.value === "") {
    if (unread) { ask({ at }); }
    return;
  }
  clearTimeout(restTimer);
  ask({ at, column: Number(control.dataset.column), text: control.value });
}

async function jump(to) {
  const ticked = root.querySelectorAll("[data-keep]:checked");
  const fixed = Array.from(ticked, (each) => ({ column: Number(each.dataset.keep) }));
  try {
    said.textContent = "";
    at = (await send("/view/jump", { to, at, fixed })).at;
    await ask({ at });
  } catch (error) { said.textContent = error.message; }
}

// One request at a time; of those that came meanwhile, the last is sent.
async function ask(question, since) {
  if (busy) {
    waiting = [question, since];
    return;
  }
  busy = true;
  try {
    const answer = await send("/view/profile", { ...question, outcome: chosen("profile-outcome") });
    unread = unread && question.again === true;
    if (!unread) { exclude(answer.broken ? "The rule " + answer.broken + " excludes this setting." : ""); }
    if (!waiting) { show(answer, question.moving); }
    else if ("text" in question) { at[question.column] = answer.at[question.column]; }
    if (since !== undefined) { measure(since); }
  } catch (error) {
    if ("text" in question) {
      unread = !(error instanceof Away);
      exclude(error.message);
    } else { said.textContent = error.message; }
  } finally {
    busy = false;
  }
  if (waiting) {
    const [next, then] = waiting;
    waiting = null;
    if (!("text" in next)) { next.at = at; }
    next.column ??= question.column; // still in hand, where its answer was not shown
    await ask(next, then);
  }
}

function measure(since) {
  root.dataset.drawn = String(performance.now() - since);
  requestAnimationFrame(() => setTimeout(() => {
    root.dataset.painted = String(performance.now() - since);
    root.dataset.count = String(Number(root.dataset.count ?? 0) + 1);
  }));
}

function show(answer, moving) {
  at = answer.at;
  setControls(answer);
  root.querySelectorAll(".picture").forEach((each) => { each.hidden = !answer.slices; });
  if (!answer.slices) {
    readout.replaceChildren(element("p", "note", answer.waiting));
    return;
  }
  const hasChance = answer.slices[0].chance !== null;
  if (!slices) {
    const figures = root.querySelectorAll("figure.slice");
    slices = answer.slices.map((_, k) => new Slice(figures[k], axes[k], hasChance));
  }
  rescale(answer.slices);
  slices.forEach((each) => each.drawLimit(answer.limit));
  answer.slices.forEach((each, k) => slices[k].draw(each, at[k], answer.shown[k] !== null));
  tell(answer.believed);
  clearTimeout(restTimer);
  // The hand rests: bands that were sketched while it moved are drawn exactly, then the map.
  restTimer = setTimeout(moving ? () => ask({ at, again: true }) : drawMap, 300);
}

// All pictures have one scale, which only grows while the hand moves.
function rescale(all) {
  let [low, high] = range ?? [Infinity, -Infinity];
  for (const each of all) {
    each.low.forEach((value, k) => {
      if (each.held && !each.held[k]) { return; }
      low = Math.min(low, value);
      high = Math.max(high, each.high[k]);
    });
  }
  if (!(low <= high)) { [low, high] = [0, 1]; }
  const margin = (high - low) * 0.06 || Math.abs(high) * 0.05 || 0.5;
  if (range && low >= range[0] && high <= range[1]) { return; }
  range = [low - margin, high + margin];
  slices.forEach((each) => each.scale(range));
}

function setControls(answer) {
  answer.shown.forEach((text, column) => {
    const slider = document.getElementById("s" + column);
    const exact = slider.parentElement.querySelector(".exact");
    const { places } = axes[column];
    slider.disabled = text === null;
    const index = places ? nearest(places, at[column]) : Math.round(at[column] * 1000);
    if (slider !== document.activeElement || places) { slider.value = String(index); }
    if (slider.type === "range") {
      slider.setAttribute("aria-valuetext", text ?? "does not exist here");
    }
    if (exact) {
      exact.disabled = text === null;
      if (exact !== document.activeElement && !unread) { exact.value = text ?? ""; }
    }
  });
}

function nearest(places, value) {
  let best = 0;
  places.forEach((each, k) => {
    if (Math.abs(each - value) < Math.abs(places[best] - value)) { best = k; }
  });
  return best;
}

function tell(believed) {
  const cells = believed.outcomes.map((each) => {
    const cell = element("div", "reading");
    cell.append(element("span", "of", each.name === "objective" ? "expected" : each.name));
    cell.append(element("b", "", each.text));
    if (each.wish) { cell.append(element("span", "wish", each.wish)); }
    return cell;
  });
  if (believed.chance !== null) {
    const cell = element("div", "reading");
    cell.append(element("span", "of", "every limit holds"));
    cell.append(element("b", believed.sure ? "held" : "broken", believed.chance));
    cells.push(cell);
  }
  readout.replaceChildren(...cells);
  clearTimeout(spokenTimer);
  spokenTimer = setTimeout(() => { spoken.textContent = readout.textContent; }, 700);
}

export async function drawMap() {
  if (axes.length < 2) { return; }
  const data = { at, first: chosen("map-first"), second: chosen("map-second"), outcome: chosen("map-outcome") };
  data.kind = chosen("map-kind");
  try {
    drawing.replaceChildren(piecesOf((await send("/view/map", data)).html));
  } catch (error) {
    drawing.replaceChildren(element("p", "note", error.message));
  }
}
