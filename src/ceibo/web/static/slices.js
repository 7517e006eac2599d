// One small picture of each parameter: the mean with its band, the chance below, what rules exclude.

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const FRAME = { left: 44, right: 292, top: 8, bottom: 132 };
const STRIP = { top: 142, bottom: 172 };


function make(name, kind, parent) {
  const made = document.createElementNS(SPACE, name);
  if (kind) { made.setAttribute("class", kind); }
  parent.append(made);
  return made;
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) { node.setAttribute(name, value); }
}

const px = (value) => Math.round(value * 10) / 10;
const across = (share) => FRAME.left + share * (FRAME.right - FRAME.left);

export function ticksOf(low, high) {
  const width = high - low;
  if (!(width > 0) || !isFinite(width)) { return [low]; }
  const power = 10 ** Math.floor(Math.log10(width / 3));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => width / each <= 4);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) { ticks.push(k * step); }
  return ticks.map((each) => Number(each.toPrecision(12)));
}

// Ticks as texts, with as many digits as tell them apart and show where they are.
export function labelsOf(ticks) {
  const off = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) / 100 : Infinity;
  for (let digits = 4; ; digits += 1) {
    const texts = ticks.map((each) => shortNumber(each, digits));
    if (digits === 15 || texts.every((text, k) => Math.abs(Number(text) - ticks[k]) <= off)) { return texts; }
  }
}

function shortNumber(value, digits) {
  const rounded = Number(value.toPrecision(digits));
  const [plain, short] = [String(rounded), rounded.toExponential()].map((each) => each.replace("+", ""));
  const size = Math.abs(rounded);
  return size !== 0 && (size >= 1e5 || size < 1e-3) && short.length < plain.length ? short : plain;
}

export class Slice {
  constructor(figure, axis, hasChance) {
    this.axis = axis;
    this.figure = figure;
    const turned = !axis.ordered && axis.ticks.some(([, text]) => text.length * axis.ticks.length > 30);
    const foot = hasChance ? STRIP.bottom : FRAME.bottom;
    this.height = foot + (turned ? 86 : 24);
    const root = document.createElementNS(SPACE, "svg");
    set(root, { viewBox: `0 0 ${WIDTH} ${this.height}`, role: "img", "aria-label": "Slice along " + axis.name });
    this.root = root;
    this.lines = make("g", "", root);
    this.excluded = make("path", "excluded", root);
    this.band = make("path", "band", root);
    this.mean = make("path", "incumbent", root);
    this.levels = make("g", "", root);
    this.area = make("path", "chance-area", root);
    this.chance = make("path", "chance", root);
    this.limit = make("line", "limit", root);
    this.mark = make("line", "chosen", root);
    this.here = make("circle", "level", root);
    this.foot = foot;
    if (hasChance) {
      this.label(FRAME.left - 6, STRIP.top + 8, "100 %", "end");
      this.label(FRAME.left - 6, STRIP.bottom + 3, "0", "end");
      set(make("line", "grid", root), {
        x1: FRAME.left, x2: FRAME.right, y1: STRIP.bottom, y2: STRIP.bottom,
      });
    }
    if (axis.ordered && axis.choices) { // every level has a tick, those that are close no label
      for (const share of axis.places) {
        set(make("line", "tick", root), {
          x1: px(across(share)), x2: px(across(share)), y1: foot, y2: foot + 5,
        });
      }
    }
    this.name(turned);
    figure.querySelector(".picture").replaceChildren(root);
  }

  label(x, y, text, anchor, parent = this.root) {
    const written = make("text", "label", parent);
    set(written, { x: px(x), y: px(y), "text-anchor": anchor });
    written.textContent = text;
    return written;
  }

  name(turned) {
    let last = -Infinity;
    for (const [share, text] of this.axis.ticks) {
      const at = across(share);
      const short = text.length > 14 ? text.slice(0, 13) + "…" : text;
      if (turned) {
        const written = this.label(0, 0, short, "end");
        written.setAttribute("transform", `translate(${px(at + 4)} ${this.foot + 8}) rotate(-60)`);
        continue;
      }
      const half = short.length * 3.6;
      if (at - half < last && this.axis.ordered) { continue; }
      last = at + half + 6;
      this.label(Math.min(at, WIDTH - half), this.foot + 17, short, "middle");
    }
  }

  scale(range) {
    const [low, high] = range;
    this.lines.replaceChildren();
    this.y = (value) => FRAME.bottom - ((value - low) / (high - low)) * (FRAME.bottom - FRAME.top);
    const ticks = ticksOf(low, high);
    const texts = labelsOf(ticks);
    ticks.forEach((tick, k) => {
      const at = px(this.y(tick));
      set(make("line", "grid", this.lines), { x1: FRAME.left, x2: FRAME.right, y1: at, y2: at });
      this.label(FRAME.left - 6, at + 4, texts[k], "end", this.lines);
    });
  }

  drawLimit(limit) {
    const at = limit === null ? -1 : this.y(limit);
    const seen = at >= FRAME.top && at <= FRAME.bottom;
    const ends = { x1: FRAME.left, x2: seen ? FRAME.right : FRAME.left };
    set(this.limit, { ...ends, y1: px(seen ? at : 0), y2: px(seen ? at : 0) });
  }

  draw(slice, at, exists) {
    this.figure.classList.toggle("absent", !exists);
    const held = slice.held || slice.at.map(() => true);
    const y = (value) => Math.min(Math.max(this.y(value), FRAME.top - 2), FRAME.bottom + 2);
    const point = (k, value) => `${px(across(slice.at[k]))} ${px(y(value))}`;
    let band = "", mean = "", area = "", chance = "", grey = "";
    const high = (k) => STRIP.bottom - slice.chance[k] * (STRIP.bottom - STRIP.top);
    const runs = this.axis.ordered ? runsOf(held) : [];
    for (const [first, last] of runs) {
      const steps = Array.from({ length: last - first + 1 }, (_, k) => first + k);
      mean += "M" + steps.map((k) => point(k, slice.mean[k])).join("L");
      const back = steps.slice().reverse().map((k) => point(k, slice.low[k]));
      band += "M" + steps.map((k) => point(k, slice.high[k])).concat(back).join("L") + "Z";
      if (slice.chance) {
        const line = steps.map((k) => `${px(across(slice.at[k]))} ${px(high(k))}`).join("L");
        const ends = [first, last].map((k) => px(across(slice.at[k])));
        chance += "M" + line;
        area += `M${ends[0]} ${STRIP.bottom}L${line}L${ends[1]} ${STRIP.bottom}Z`;
      }
    }
    for (const [first, last] of runsOf(held.map((each) => !each))) {
      const edge = (k, other) => across((slice.at[k] + (slice.at[other] ?? slice.at[k])) / 2);
      grey += `M${px(edge(first, first - 1))} ${FRAME.top}H${px(edge(last, last + 1))}`
        + `V${this.foot}H${px(edge(first, first - 1))}Z`;
    }
    this.mean.setAttribute("d", mean);
    this.band.setAttribute("d", band);
    this.chance.setAttribute("d", chance);
    this.area.setAttribute("d", area);
    this.excluded.setAttribute("d", grey);
    this.levels.replaceChildren();
    if (!this.axis.ordered) { this.drawLevels(slice, held, y); }
    const x = px(across(at));
    set(this.mark, { x1: x, x2: x, y1: FRAME.top, y2: this.foot });
    set(this.here, { cx: x, cy: px(y(this.valueAt(slice, at))), r: this.axis.ordered ? 4 : 0 });
  }

  drawLevels(slice, held, y) {
    slice.at.forEach((share, k) => {
      if (!held[k]) { return; }
      const x = px(across(share));
      const ends = [px(y(slice.low[k])), px(y(slice.high[k]))];
      set(make("line", "whisker", this.levels), { x1: x, x2: x, y1: ends[0], y2: ends[1] });
      for (const end of ends) { // seen beside the point, too, where there is hardly any ±
        set(make("line", "whisker", this.levels), { x1: x - 8, x2: x + 8, y1: end, y2: end });
      }
      set(make("circle", "level", this.levels), { cx: x, cy: px(y(slice.mean[k])), r: 4 });
      if (slice.chance) {
        const height = slice.chance[k] * (STRIP.bottom - STRIP.top);
        set(make("rect", "chance-area", this.levels), {
          x: x - 6, width: 12, y: px(STRIP.bottom - height), height: px(height),
        });
      }
    });
  }

  valueAt(slice, at) {
    const next = slice.at.findIndex((each) => each >= at);
    if (next <= 0) { return slice.mean[next < 0 ? slice.mean.length - 1 : 0]; }
    const share = (at - slice.at[next - 1]) / (slice.at[next] - slice.at[next - 1] || 1);
    return slice.mean[next - 1] + share * (slice.mean[next] - slice.mean[next - 1]);
  }
}

function runsOf(flags) {
  const runs = [];
  flags.forEach((flag, k) => {
    if (!flag) { return; }
    if (k > 0 && flags[k - 1]) { runs[runs.length - 1][1] = k; }
    else { runs.push([k, k]); }
  });
  return runs;
}

