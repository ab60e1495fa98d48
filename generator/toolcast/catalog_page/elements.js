// Helpers that create elements, and the data of the page. Text of specs is inserted only as
// text nodes, never as HTML, because specs are not trusted.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const FIRST_ROWS = 50, NEXT_ROWS = 100, MAX_NODES = 1500, MAX_DEPTH = 12, MAX_BOXES = 8, MAX_VALUES = 60;
const AUDIENCES = ["call", "prompt", "code", "access"];

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child != null && child !== false));
  return element;
}
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
function bar(maximum, ...parts) {
  const element = el("span", { class: "bar", "aria-hidden": "true" });
  for (const part of parts) {
    const piece = el("i");
    piece.style.width = `${maximum ? (100 * part) / maximum : 0}%`;
    element.append(piece);
  }
  return element;
}
