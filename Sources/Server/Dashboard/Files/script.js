// The keys of the dashboard. Every page works without this script.
(() => {
  "use strict";
  const periods = { d: "day", e: "yesterday", w: "7d", f: "28d", t: "30d", n: "91d", m: "month",
    p: "lastMonth", y: "year", s: "6mo", l: "12mo", a: "all" };
  const go = (change) => {
    const url = new URL(location.href);
    for (const name in change) {
      if (change[name] === null) url.searchParams.delete(name);
      else url.searchParams.set(name, change[name]);
    }
    location.assign(url);
  };
  // A row may have several links; its first one gets the focus.
  const move = (step) => {
    const rows = [...document.querySelectorAll("tbody tr")].filter((row) => row.querySelector("a"));
    const index = rows.indexOf(document.activeElement?.closest("tr")) + step;
    (rows[index] ?? rows[step > 0 ? 0 : rows.length - 1])?.querySelector("a").focus();
  };
  // Clears the focused field. Without one, removes the page's filters, but not the choices that every page has.
  const clear = (field) => {
    if (document.querySelector("dialog[open]")) return;
    if (field && /^(INPUT|SELECT|TEXTAREA)$/.test(field.tagName)) {
      if (field.type === "text" || field.type === "search") field.value = "";
      return field.blur();
    }
    const change = {};
    for (const name of new URLSearchParams(location.search).keys()) {
      if (!["app", "test", "period", "from", "to", "compare"].includes(name)) change[name] = null;
    }
    if (Object.keys(change).length) go(change);
  };
  let afterG = false;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const field = document.activeElement;
    if (event.key === "Escape") return clear(field);
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
    } else if (key === "r") document.querySelector('nav a[data-key="v"]')?.click();
    else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "x") go({ compare: query.get("compare") === "off" ? null : "off" });
    else if (key === "c") { const from = document.querySelector("[name=from]"); if (from) from.focus(); }
    else if (periods[key] && document.querySelector("[name=period]")) {
      go({ period: periods[key], from: null, to: null, before: null });
    }
  });
  // Lines to copy get a button; a browser allows it over https and on this machine.
  for (const line of navigator.clipboard ? document.querySelectorAll(".copy") : []) {
    const button = document.createElement("button");
    button.textContent = "Copy";
    button.addEventListener("click", () => navigator.clipboard.writeText(line.textContent));
    line.before(button);
  }
  // The live page: new rows come by a stream or, if there are too many streams, by polling.
  const live = document.getElementById("live");
  if (live) {
    const body = live.querySelector("tbody");
    const chart = document.getElementById("live-chart");
    const columns = chart.querySelectorAll(".chart > rect");
    const cells = chart.querySelectorAll("td");
    const names = [...chart.querySelectorAll("thead th")].slice(1).map((heading) => heading.textContent);
    const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    const show = (message) => {
      for (const row of message.rows) {
        const path = "/launches/" + encodeURIComponent(row.id) + live.dataset.query;
        if (body.querySelector(`a[href="${CSS.escape(path)}"]`)) continue;
        const line = document.createElement("tr");
        const head = line.appendChild(document.createElement("th"));
        head.scope = "row";
        const link = head.appendChild(document.createElement("a"));
        [link.href, link.textContent] = [path, row.time];
        for (const text of [row.what, row.campaign, row.app]) {
          line.appendChild(document.createElement("td")).textContent = text;
        }
        if (row.match) line.children[1].className = "good";
        body.prepend(line);
        document.getElementById("live-none")?.remove();
      }
      while (body.children.length > 50) body.lastElementChild.remove();
      chart.querySelector(".scale").replaceChildren(...message.scale.map((value) => {
        const mark = document.createElement("span");
        mark.textContent = grouped(value);
        return mark;
      }));
      message.minutes.forEach((count, index) => {
        const height = count * 100 / message.scale[0];
        columns[index].setAttribute("height", height);
        columns[index].setAttribute("y", 100 - height);
        cells[index].textContent = grouped(count);
      });
      chart.querySelectorAll("g > title").forEach((title, minute) => {
        const figures = names.map((name, index) => name + " " + cells[minute * names.length + index].textContent);
        title.textContent = title.textContent.split(":")[0] + ": " + figures.join(", ");
      });
    };
    let stream;
    let timer;
    let hasEnded = false;
    const stop = () => {
      stream.close();
      clearInterval(timer);
      timer = undefined;
    };
    const end = () => {
      hasEnded = true;
      stop();
      document.getElementById("live-note").hidden = true;
      document.getElementById("live-ended").hidden = false;
    };
    // Without a session, the response is a redirect to the sign-in form.
    const poll = () => fetch("/live/now" + location.search, { redirect: "manual" })
      .then((answer) => answer.type === "opaqueredirect" ? end() : answer.json().then(show)).catch(() => {});
    const start = () => {
      stream = new EventSource("/live/stream" + location.search);
      stream.onmessage = (event) => show(JSON.parse(event.data));
      stream.addEventListener("ended", end);
      stream.onerror = () => {
        if (stream.readyState !== EventSource.CLOSED || timer || hasEnded) return;
        timer = setInterval(poll, 5000);
        poll().then(() => {
          if (!hasEnded) document.getElementById("live-note").textContent = live.dataset.full;
        });
      };
    };
    // A hidden page sends no requests.
    document.addEventListener("visibilitychange", () => {
      if (hasEnded) return;
      if (document.hidden) stop(); else start();
    });
    if (document.hidden) stream = { close() {} }; else start();
  }
  // A new choice of filters sends the form at once; without this script, the button sends it. A form that is sent by
  // POST changes something, so only its button sends it.
  for (const form of document.querySelectorAll(".filters:not([method])")) {
    form.addEventListener("change", (event) => {
      if (event.target.type === "date" && form.period) form.period.value = "custom";
      if (event.target.tagName === "SELECT" && event.target.value !== "custom") form.requestSubmit();
    });
  }
})();
