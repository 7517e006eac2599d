// Forms: what was typed is sent, kept until it is safely recorded, and never overwritten.

import { Away, element, randomKey, send } from "./api.js";

const DRAFTS = "ceibo:" + document.title + ":";
const MEMORY = "ceibo:" + document.title + "#block";

function store(work) {
  try { return work(localStorage); } catch (error) { return null; } // refused by the browser
}

function typed(holder) {
  const fields = holder.querySelectorAll('input[type="text"]');
  return Array.from(fields).filter((each) => each.value !== "" && each.dataset.auto !== "yes");
}

export function isDirty(holder) {
  return typed(holder).length > 0;
}

export function keepDraft(card) {
  const values = typed(card).map((each) => [each.id, each.value]);
  store((kept) => {
    if (values.length) { kept.setItem(DRAFTS + card.id, JSON.stringify(values)); }
    else { kept.removeItem(DRAFTS + card.id); }
  });
}

export function restoreDraft(card) {
  const text = store((kept) => kept.getItem(DRAFTS + card.id));
  try {
    for (const [id, value] of JSON.parse(text) || []) {
      const field = Array.from(card.querySelectorAll("input")).find((each) => each.id === id);
      if (field && field.value === "") { field.value = value; }
    }
  } catch (error) { /* nothing that was kept here */ }
  const block = card.querySelector('input[name="block"]');
  const last = store((kept) => kept.getItem(MEMORY));
  if (block && block.value === "" && last) {
    block.value = last;
    block.dataset.auto = "yes";
  }
}

function holdRow(row, data) {
  const how = row.querySelector('select[name="hold"]').value;
  const column = Number(row.dataset.column);
  if (how === "shared") { data.shared.push({ column }); }
  if (how !== "fixed") { return; }
  const text = row.querySelector('input[name="text"]');
  const choice = row.querySelector('select[name="choice"]');
  data.fixed.push(text ? { column, text: text.value } : { column, choice: Number(choice.value) });
}

async function collect(form, place) {
  const data = {};
  for (const field of form.elements) {
    if (!field.name || field.closest(".measured, .hold")) { continue; }
    const whole = field.type === "hidden" || field.type === "number";
    data[field.name] = whole ? Number(field.value) : field.value;
  }
  const measured = form.querySelectorAll(".measured");
  if (measured.length) {
    data.values = Array.from(measured, (row) => ({
      outcome: Number(row.dataset.outcome),
      value: row.querySelector('[name="value"]').value,
      noise: row.querySelector('[name="noise"]').value,
    }));
  }
  if (form.querySelector(".hold")) {
    Object.assign(data, { fixed: [], shared: [] });
    form.querySelectorAll(".hold").forEach((row) => holdRow(row, data));
  }
  if (form.dataset.place) { Object.assign(data, { at: await place(), now: true }); }
  if (form.dataset.keyed) {
    form.dataset.key = form.dataset.key || randomKey();
    data.key = form.dataset.key;
  }
  return data;
}

// What becomes of what was typed once the page is opened by another link.
function keeping(form) {
  if (form.closest("article")) { return " What you typed is kept. "; }
  return isDirty(form) ? " Note what you typed here: it is not kept under another link. " : " ";
}

function say(form, sentence, status) {
  const said = form.querySelector(".said");
  said.replaceChildren(sentence);
  const isTold = form.dataset.action === "tell" && !form.dataset.keyed;
  if (status === 409 && isTold) {
    const again = element("button", "", "Record mine as a further measurement");
    again.type = "button";
    again.addEventListener("click", () => {
      form.dataset.keyed = "yes";
      form.requestSubmit();
    });
    said.append(" ", again);
  }
}

function clear(form, answer) {
  delete form.dataset.key;
  form.querySelector(".said").replaceChildren();
  // a correction is of an old value, and a block that is doubted is not for the next one
  const told = form.dataset.action === "tell" && !answer.doubted;
  const block = told && form.querySelector('input[name="block"]');
  if (block && block.value) { store((kept) => kept.setItem(MEMORY, block.value)); }
  form.querySelectorAll('input[type="text"]').forEach((each) => { each.value = ""; });
  form.querySelectorAll("details").forEach((each) => { each.open = false; });
  form.closest(".steps details")?.removeAttribute("open");
}

export function listen(place, hush, done) {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.dataset.action) {
      if (form.method !== "dialog") { event.preventDefault(); }
      return;
    }
    event.preventDefault();
    const button = form.querySelector('button[type="submit"]');
    if (button.disabled) { return; }
    button.disabled = true;
    form.setAttribute("aria-busy", "true");
    try {
      const answer = await send("/do/" + form.dataset.action, await collect(form, place));
      const card = form.closest("article");
      const focused = form.contains(document.activeElement);
      clear(form, answer);
      if (card) { keepDraft(card); }
      await done(answer, form, focused && card !== null);
    } catch (error) {
      hush(); // what an earlier form said is over
      const advice = error instanceof Away ? keeping(form) + error.advice : "";
      say(form, error.message + advice, error.status);
    } finally {
      button.disabled = button.dataset.excluded === "yes";
      form.removeAttribute("aria-busy");
    }
  });
  document.addEventListener("input", (event) => {
    const field = event.target;
    delete field.dataset.auto;
    const card = field.closest("article");
    if (card) { keepDraft(card); }
    const row = field.closest(".hold");
    if (row && field.name === "hold") {
      row.querySelector('[name="text"], [name="choice"]').disabled = field.value !== "fixed";
    }
  });
}
