// Measures the boxes of a report as the browser has laid it out; returns what is wrong with them.
(() => {
  const faults = [];
  const slack = 1.5; // pixels: half a line's width, and rounding
  const name = each => {
    const panel = each.closest("section, header, .card");
    const where = panel ? panel.id || panel.className || panel.tagName : "page";
    return where + ": " + (each.getAttribute("class") || each.tagName) + " " +
      (each.textContent || "").trim().slice(0, 40);
  };
  const say = (what, each) => { if (faults.length < 40) { faults.push(what + " in " + name(each)); } };
  const shown = each => each.getClientRects().length > 0;
  const inside = (box, frame, by) => box.left >= frame.left - by && box.right <= frame.right + by &&
    box.top >= frame.top - by && box.bottom <= frame.bottom + by;
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    faults.push("the page is " + document.documentElement.scrollWidth + " px wide, of " + width);
  }

  // the four corners of a text, which may be turned
  const corners = text => {
    const box = text.getBBox(), to = text.getScreenCTM();
    const points = [[box.x, box.y], [box.x + box.width, box.y],
      [box.x + box.width, box.y + box.height], [box.x, box.y + box.height]];
    return points.map(([x, y]) => new DOMPoint(x, y).matrixTransform(to));
  };
  const depth = (one, other) => { // by how much two boxes overlap, along the best separating axis
    let least = Infinity;
    for (const box of [one, other]) {
      for (const k of [0, 1]) {
        const dx = box[k + 1].x - box[k].x, dy = box[k + 1].y - box[k].y, size = Math.hypot(dx, dy);
        if (!size) { return 0; }
        const along = points => points.map(p => (p.x * dx + p.y * dy) / size);
        const a = along(one), b = along(other);
        const overlap = Math.min(Math.max(...a), Math.max(...b)) - Math.max(Math.min(...a), Math.min(...b));
        least = Math.min(least, overlap);
      }
    }
    return least;
  };

  for (const drawing of document.querySelectorAll("svg")) {
    if (!shown(drawing)) { continue; }
    const whole = drawing.getBoundingClientRect();
    const frames = [...drawing.querySelectorAll("rect.frame")].map(f => f.getBoundingClientRect());
    const scale = whole.width / drawing.viewBox.baseVal.width;
    for (const mark of drawing.querySelectorAll("text,circle,line,polyline,polygon,path,rect,image")) {
      if (mark.closest("clipPath")) { continue; }
      const box = mark.getBoundingClientRect();
      if (!inside(box, whole, slack)) { say("outside its drawing", mark); }
      const curve = mark.matches("polyline,polygon:not(.star),line.whisker,line.bar,circle,path");
      if (curve && frames.length && !frames.some(f => inside(box, f, slack + 9 * scale * mark.matches("circle,.failed")))) {
        say("outside its frame", mark);
      }
    }
    const texts = [...drawing.querySelectorAll("text")].filter(t => t.textContent.trim());
    const boxes = texts.map(corners);
    texts.forEach((text, i) => {
      if (text.textContent.length > 1 && boxes[i][0].x === boxes[i][1].x && boxes[i][0].y === boxes[i][1].y) { return; }
      for (let j = 0; j < i; j += 1) {
        // the line height of a text is more than its letters
        if (depth(boxes[i], boxes[j]) > 3.5 * scale) {
          say("'" + texts[j].textContent.slice(0, 30) + "' runs into a text", text);
        }
      }
    });
  }

  const panels = [...document.querySelectorAll("header, .card, .panel")].filter(shown);
  panels.forEach((panel, i) => {
    const box = panel.getBoundingClientRect();
    if (panel.scrollWidth > panel.clientWidth + 1) { say("wider than its box", panel); }
    for (const other of panels.slice(0, i)) {
      const next = other.getBoundingClientRect();
      const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
      const up = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
      if (across > 1 && up > 1) { say("panels overlap", panel); }
    }
    for (const each of panel.querySelectorAll("*")) {
      if (each.closest("svg") || (each.closest(".scroll") && !matchMedia("print").matches)) { continue; }
      const own = each.getBoundingClientRect();
      if (own.width && (own.right > box.right + 1 || own.left < box.left - 1)) { say("outside its panel", each); }
    }
  });

  // a number, a state or a source stands on one line
  const range = document.createRange();
  for (const cell of document.querySelectorAll("td:not(.text):not(.reason), .big")) {
    if (!shown(cell) || cell.querySelector("details, br")) { continue; }
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const word of node.textContent.matchAll(/[^\s]+/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (word[0].length < 25 && /^[-+±−(]?\d[\d.,e+−-]*[%)]?$/.test(word[0]) && range.getClientRects().length > 1) {
          say("'" + word[0] + "' is broken", cell);
        }
      }
    }
  }
  return faults;
})()
