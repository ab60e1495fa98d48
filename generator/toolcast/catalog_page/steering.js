// Selection of the view, keyboard shortcuts and color theme, then the start of the page.
// View selection
const VIEWS = { tools: drawTools, matrix: drawMatrix, costs: drawCosts, resources: drawSpecs, changes: drawChanges };
const EMPTY = { resources: !data.mcp_specs.length, changes: !data.against };
let view = "", opened = null;
function draw() {
  const some = found();
  VIEWS[view](some);
  const filters = [...chosen.values()].reduce((total, values) => total + values.size, 0);
  $("count").textContent = some.length === tools.length
    ? counted(tools.length, "tool") : `${some.length.toLocaleString("en")} of ${counted(tools.length, "tool")}`;
  $("chosen").textContent = filters ? ` (${filters})` : "";
  $("clear").hidden = !filters;
  if (view === "resources") $("count").textContent = `${counted(foundSpecs().length, "spec")} of resources and prompts`;
  if (view === "changes") $("count").textContent = `${counted(data.changes.length, "change")} against ${data.against}`;
  $("sorting").hidden = view !== "tools";
}
function follow() {
  let hash = location.hash.slice(1);
  if (hash.startsWith("reason-")) return;
  let tool = null;
  if (hash.startsWith("tool=")) {
    try { tool = byId.get(decodeURIComponent(hash.slice(5))) || null; } catch { tool = null; }
    hash = view || "tools";
  }
  const next = Object.hasOwn(VIEWS, hash) && !EMPTY[hash] ? hash : "tools";
  if (next !== view) {
    view = next;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.dataset.view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    draw();
    $("list").scrollTop = 0;
  }
  if (opened) opened.row?.firstChild.removeAttribute("aria-current");
  const before = opened;
  opened = tool;
  document.body.classList.toggle("has-detail", tool !== null);
  $("detail").hidden = tool === null;
  if (tool) {
    const heading = drawDetail(tool);
    row(tool).firstChild.setAttribute("aria-current", "true");
    document.title = `${tool.name} · ${data.title}`;
    $("close").href = $("back").href = `#${view}`;
    if (matchMedia("(max-width: 900px)").matches) { scrollTo(0, 0); heading.focus(); }
  } else {
    document.title = data.title;
    if (before && before.row?.isConnected) before.row.firstChild.focus();
  }
}

// Keyboard shortcuts
const links = () => [...document.querySelectorAll(view === "matrix" ? "#results tbody th a" : "#results .row a, #results a.name")];
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target === $("search");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    $("search").focus();
    $("search").select();
  } else if (event.key === "Escape") {
    event.preventDefault();
    if (opened) location.hash = `#${view}`;
    else if ($("search").value) { $("search").value = ""; draw(); $("search").focus(); }
    else $("search").blur();
  } else if (["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) {
    const all = links(), at = all.indexOf(document.activeElement);
    if (at < 0 && !(typing && event.key === "ArrowDown")) return;
    event.preventDefault();
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next < 0) $("search").focus();
    else all[Math.min(next, all.length - 1)]?.focus();
  }
});

// Color theme
const root = document.documentElement, prefers = matchMedia("(prefers-color-scheme: dark)");
let picked = null;
try { picked = localStorage.getItem("toolcast-theme"); } catch { /* Browsers can deny storage to pages opened from a file. */ }
function paint() {
  const dark = picked ? picked === "dark" : prefers.matches;
  root.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", dark ? "Use light colors" : "Use dark colors");
}
prefers.addEventListener("change", paint);
$("theme").addEventListener("click", () => {
  picked = root.classList.contains("dark") ? "light" : "dark";
  try { localStorage.setItem("toolcast-theme", picked); } catch { /* The theme is then not stored. */ }
  paint();
});

paint();
for (const [name, hidden] of Object.entries(EMPTY)) document.querySelector(`[data-view=${name}]`).hidden = hidden;
drawFilters();
$("search").addEventListener("input", draw);
$("sort").addEventListener("change", draw);
addEventListener("hashchange", follow);
follow();
