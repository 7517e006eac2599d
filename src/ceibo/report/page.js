"use strict";
(function () {
  var table = document.querySelector("table.trials");
  function remember(key, value) { try { sessionStorage.setItem("ceibo-" + key, value); } catch (error) { /* refused */ } }
  function recall(key) { try { return sessionStorage.getItem("ceibo-" + key); } catch (error) { return null; } }
  function sort(column, descending) {
    var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
    function key(row) { return row.cells[column].getAttribute("data-sort"); }
    var numeric = rows.every(function (row) { var k = key(row); return k === "" || !isNaN(Number(k)); });
    rows.sort(function (a, b) {
      var left = key(a), right = key(b);
      if (left === "" || right === "") { return (left === "") - (right === ""); }
      var order = numeric ? Number(left) - Number(right) : left < right ? -1 : left > right ? 1 : 0;
      return descending ? -order : order;
    });
    rows.forEach(function (row) { body.appendChild(row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, index) {
      if (index === column) { cell.setAttribute("aria-sort", descending ? "descending" : "ascending"); }
      else { cell.removeAttribute("aria-sort"); }
    });
    remember("sort", column + (descending ? "d" : "a"));
  }
  if (table && table.classList.contains("broad")) { // printed without its head
    var names = Array.prototype.map.call(table.tHead.rows[0].cells, function (cell) { return cell.textContent; });
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      Array.prototype.forEach.call(row.cells, function (cell, index) { cell.setAttribute("data-name", names[index]); });
    });
  }
  if (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, index) {
      cell.querySelector("button").addEventListener("click", function () {
        sort(index, cell.getAttribute("aria-sort") === "ascending");
      });
    });
    var earlier = recall("sort");
    if (earlier && parseInt(earlier, 10) < table.tHead.rows[0].cells.length) {
      sort(parseInt(earlier, 10), earlier.slice(-1) === "d");
    }
  }
  var seconds = Number(document.documentElement.getAttribute("data-refresh"));
  if (seconds > 0) {
    var top = recall("scroll");
    if (top) { window.scrollTo(0, Number(top)); }
    setTimeout(function () { remember("scroll", String(window.scrollY)); location.reload(); }, 1000 * seconds);
  }
})();
