// The keys of the dashboard. Every page works without this script.
(() => {
  "use strict";
  const periods = { d: "day", e: "yesterday", w: "7d", f: "28d", n: "91d", m: "month", p: "lastMonth",
    y: "year", l: "12mo", a: "all" };
  const go = (change) => {
    const url = new URL(location.href);
    for (const name in change) {
      if (change[name] === null) url.searchParams.delete(name);
      else url.searchParams.set(name, change[name]);
    }
    location.assign(url);
  };
  const move = (step) => {
    const rows = [...document.querySelectorAll("tbody a")];
    const next = rows[rows.indexOf(document.activeElement) + step] ?? rows[step > 0 ? 0 : rows.length - 1];
    if (next) next.focus();
  };
  let afterG = false;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const field = document.activeElement;
    if (event.key === "Escape") { if (field) field.blur(); return; }
    if (field && /^(INPUT|SELECT|TEXTAREA)$/.test(field.tagName)) return;
    const key = event.key.toLowerCase();
    if (afterG) {
      afterG = false;
      const page = document.querySelector(`nav a[data-key="${CSS.escape(key)}"]`);
      if (page) page.click();
      return;
    }
    const dialog = document.getElementById("keys");
    const query = new URLSearchParams(location.search);
    if (key === "g") afterG = true;
    else if (key === "?" && dialog) { if (!dialog.open) dialog.showModal(); }
    else if (key === "/" && document.getElementById("find")) {
      event.preventDefault();
      document.getElementById("find").focus();
    } else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "x") go({ compare: query.get("compare") === "off" ? null : "off" });
    else if (key === "c") { const from = document.querySelector("[name=from]"); if (from) from.focus(); }
    else if (periods[key] && document.querySelector("[name=period]")) {
      go({ period: periods[key], from: null, to: null, before: null });
    }
  });
  // A choice shows its page at once; without this script, the button does.
  for (const form of document.querySelectorAll(".filters")) {
    form.addEventListener("change", (event) => {
      if (event.target.type === "date") form.period.value = "custom";
      if (event.target.tagName === "SELECT" && event.target.value !== "custom") form.requestSubmit();
    });
  }
})();
