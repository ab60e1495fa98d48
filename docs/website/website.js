"use strict";
(() => {
  const search = document.getElementById("search"), found = document.getElementById("found");
  const up = document.body.dataset.up, menu = document.getElementById("menu");
  const narrow = matchMedia("(max-width: 760px)");
  const fit = () => { menu.open = !narrow.matches; };
  narrow.addEventListener("change", fit);
  fit();

  const entries = INDEX.map(([page, heading, place, text]) => ({
    page, heading, place, text, low: heading.toLowerCase(), all: `${page} ${heading} ${text}`.toLowerCase(),
  }));
  function draw() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const some = words.length ? entries.filter((one) => words.every((word) => one.all.includes(word))) : [];
    const rank = (one) => (words.every((word) => one.low.includes(word)) ? 0 : 1);
    some.sort((a, b) => rank(a) - rank(b));
    found.replaceChildren(...some.slice(0, 12).map((one) => {
      const link = document.createElement("a"), small = document.createElement("small");
      link.href = `${up}/${one.place}`;
      link.textContent = one.heading;
      small.textContent = one.page === one.heading ? one.text : `${one.page} · ${one.text}`;
      link.append(small);
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    if (words.length && !some.length) found.textContent = "Nothing is said of that.";
    found.hidden = !words.length;
  }
  search.addEventListener("input", draw);
  search.form.addEventListener("submit", (event) => {
    event.preventDefault();
    found.querySelector("a")?.click();
  });
  document.addEventListener("click", (event) => { if (!search.form.contains(event.target) || event.target.closest("#found a")) found.hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
    else if (event.key === "Escape") { found.hidden = true; search.blur(); }
    else if (!found.hidden && event.key === "ArrowDown") { event.preventDefault(); links[Math.min(at + 1, links.length - 1)]?.focus(); }
    else if (!found.hidden && event.key === "ArrowUp" && at >= 0) { event.preventDefault(); (links[at - 1] || search).focus(); }
  });
})();
