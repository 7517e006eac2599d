// The table of trials: sorted by its columns, each trial opened by its number.

let order = null;

function sortBy(table, column, descending) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const key = (row) => row.cells[column].dataset.sort;
  const numeric = rows.every((row) => key(row) === "" || !isNaN(Number(key(row))));
  rows.sort((a, b) => {
    const left = key(a), right = key(b);
    if (left === "" || right === "") { return (left === "") - (right === ""); }
    const found = numeric ? Number(left) - Number(right) : left < right ? -1 : left > right ? 1 : 0;
    return descending ? -found : found;
  });
  body.append(...rows);
  Array.from(table.tHead.rows[0].cells).forEach((cell, k) => {
    if (k === column) { cell.setAttribute("aria-sort", descending ? "descending" : "ascending"); }
    else { cell.removeAttribute("aria-sort"); }
  });
  order = [column, descending];
}

export function prepare(holder, open) {
  const table = holder.querySelector("table.trials");
  if (!table) { return; }
  Array.from(table.tHead.rows[0].cells).forEach((cell, column) => {
    const button = cell.querySelector("button");
    button.id = "sort-" + column;
    button.addEventListener("click", () => {
      sortBy(table, column, cell.getAttribute("aria-sort") === "ascending");
    });
  });
  for (const row of table.tBodies[0].rows) {
    const number = row.cells[0].dataset.sort;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "open";
    button.id = "open-" + number;
    button.textContent = number;
    button.setAttribute("aria-label", "Open trial " + number);
    button.addEventListener("click", () => open(number));
    row.cells[0].replaceChildren(button);
  }
  if (order && order[0] < table.tHead.rows[0].cells.length) { sortBy(table, ...order); }
}
