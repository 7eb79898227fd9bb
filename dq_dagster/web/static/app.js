// Everything works without this file; it filters, sorts, shows local times and refreshes in place.
"use strict";
(() => {
  const root = document.documentElement;
  const kept = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* A browser may keep nothing. */ }
    return null;
  };
  const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  const THEMES = ["auto", "light", "dark"];
  const setTheme = (theme) => {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      write(button, { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[theme]);
      button.setAttribute("aria-label", `Theme: ${theme}. Switch to the next one.`);
    }
  };
  const theme = () => (THEMES.includes(kept("dq-theme")) ? kept("dq-theme") : "auto");
  root.classList.add("scripted");
  setTheme(theme());

  // Times: the reader's zone on the page, UTC on hover.
  const near = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
  const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const ago = (seconds) => {
    for (const [unit, size, most] of [["second", 1, 50], ["minute", 60, 55], ["hour", 3600, 23], ["day", 86400, 6.5]])
      if (Math.abs(seconds) / size < most) return near.format(-Math.round(seconds / size), unit);
    return null;
  };
  const showTimes = () => {
    for (const time of document.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      if (!time.title) time.title = time.textContent.trim();
      const words = time.hasAttribute("data-ago") ? ago((Date.now() - at) / 1000) : null;
      write(time, words || full.format(at));
      if (words) time.title = `${full.format(at)} (${time.dataset.utc || time.title})`;
    }
  };

  // Filter and search; what was chosen is kept in the address, so a reload shows the same.
  const state = () => new URLSearchParams(location.hash.slice(1));
  const keepState = (changes) => {
    const now = state();
    for (const [key, value] of Object.entries(changes)) value ? now.set(key, value) : now.delete(key);
    history.replaceState(null, "", now.size ? `#${now}` : location.pathname + location.search);
  };
  const applyFilter = () => {
    const table = document.querySelector("table[data-filtered]");
    if (!table) return;
    const now = state();
    const words = (now.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const status = now.get("status");
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.dataset.text || row.textContent.toLowerCase();
      row.hidden = Boolean((status && row.dataset.status !== status) || !words.every((word) => text.includes(word)));
      if (!row.hidden) shown += 1;
    }
    for (const chip of document.querySelectorAll("[data-status-filter]"))
      chip.setAttribute("aria-pressed", String(chip.dataset.statusFilter === status));
    const search = document.querySelector("[data-search]");
    if (search && search.value !== (now.get("q") || "") && document.activeElement !== search) search.value = now.get("q") || "";
    const none = document.querySelector("[data-none]");
    if (none) none.hidden = shown > 0;
    const count = document.querySelector("[data-shown]");
    if (count) count.textContent = shown === table.tBodies[0].rows.length ? "" : `${shown} of ${table.tBodies[0].rows.length} shown`;
  };
  const applySort = () => {
    const [column, direction] = (state().get("sort") || "").split(":");
    const table = document.querySelector("table[data-filtered]");
    if (!table || !column) return;
    const heads = [...table.tHead.rows[0].cells];
    const at = heads.findIndex((head) => head.dataset.sort === column);
    if (at < 0) return;
    heads.forEach((head, n) => n === at ? head.setAttribute("aria-sort", direction === "down" ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    const value = (row) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim().toLowerCase();
    const compare = (one, other) => {
      const [left, right] = [value(one), value(other)];
      const numbers = left !== "" && right !== "" && !Number.isNaN(+left) && !Number.isNaN(+right);
      return numbers ? left - right : left < right ? -1 : left > right ? 1 : 0;
    };
    const rows = [...table.tBodies[0].rows].sort(compare);
    table.tBodies[0].append(...(direction === "down" ? rows.reverse() : rows));
  };
  // Where a chart is wider than its place, the newest values are to be seen first.
  const showNewest = () => {
    for (const one of document.querySelectorAll("[data-scroll]:has(.chart)")) one.scrollLeft = one.scrollWidth;
  };
  // And the numbers at its left stay in sight while it is moved.
  const keepScale = (event) => {
    const chart = event.target.matches?.("[data-scroll]") && event.target.querySelector(".chart");
    if (!chart) return;
    const moved = event.target.scrollLeft * chart.viewBox.baseVal.width / chart.getBoundingClientRect().width;
    chart.querySelector(".scale")?.setAttribute("transform", `translate(${moved} 0)`);
  };
  document.addEventListener("scroll", keepScale, { capture: true, passive: true });
  const showPage = () => { showTimes(); applySort(); applyFilter(); setTheme(theme()); showNewest(); };

  // What has the focus has it again on the page anew, also if other rows came before it.
  const sign = (one) => one.id || one.getAttribute("href") || one.textContent.trim();
  const focusable = () => [...document.querySelectorAll("main :is(a, button, input, select, summary, [tabindex])")];
  const holding = () => {
    const [all, now] = [focusable(), document.activeElement];
    if (!all.includes(now)) return null;
    const same = () => focusable().filter((one) => sign(one) === words);
    const words = sign(now);
    const at = same().indexOf(now);
    return () => same()[at]?.focus({ preventScroll: true });
  };
  const opens = (row) => row?.querySelector("a")?.getAttribute("href");

  // Refresh: the same page anew, without moving what the reader sees.
  let refreshing = false;
  const refresh = async () => {
    if (refreshing) return;
    refreshing = true;
    root.classList.add("refreshing");
    try {
      const answer = await fetch(location.pathname + location.search, { headers: { "x-refresh": "1" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const held = holding();
      const chosen = opens(document.querySelector("main tr[aria-selected='true']"));
      const searched = document.querySelector("[data-search]");
      const scrolled = [...document.querySelectorAll("[data-scroll]")].map((one) => [one.scrollLeft, one.scrollTop]);
      const open = [...document.querySelectorAll("main details")].map((one) => one.open);
      const [x, y] = [scrollX, scrollY];
      for (const part of ["main", "[data-updated]"]) {
        const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
        if (old && fresh) old.replaceWith(document.adoptNode(fresh));
      }
      document.title = page.title;
      const search = document.querySelector("[data-search]");
      if (search && searched?.value) search.value = searched.value;
      showPage();
      document.querySelectorAll("main details").forEach((one, n) => { if (open[n] !== undefined) one.open = open[n]; });
      document.querySelectorAll("[data-scroll]").forEach((one, n) => { if (scrolled[n]) [one.scrollLeft, one.scrollTop] = scrolled[n]; });
      scrollTo(x, y);
      if (chosen) rows().find((row) => opens(row) === chosen)?.setAttribute("aria-selected", "true");
      held?.();
      if (searched && document.activeElement === search) search.setSelectionRange(searched.selectionStart, searched.selectionEnd);
    } catch {
      const updated = document.querySelector("[data-updated]");
      if (updated) updated.textContent = "Could not be refreshed";
    } finally {
      root.classList.remove("refreshing");
      refreshing = false;
    }
  };
  const EVERY = 60_000;
  // Not while somebody marks a text, or has a list open.
  const busy = () => !getSelection().isCollapsed || document.activeElement?.matches("select");
  setInterval(() => { if (!document.hidden && !busy()) refresh(); }, EVERY);

  document.addEventListener("click", (event) => {
    const target = event.target.closest("button, [data-status-filter]");
    if (!target) return;
    if (target.hasAttribute("data-theme-switch")) {
      kept("dq-theme", THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
      setTheme(theme());
    } else if (target.hasAttribute("data-refresh")) refresh();
    else if (target.hasAttribute("data-help")) document.querySelector("dialog")?.showModal();
    else if (target.dataset.statusFilter) {
      keepState({ status: state().get("status") === target.dataset.statusFilter ? "" : target.dataset.statusFilter });
      applyFilter();
    } else if (target.closest("th[data-sort]")) {
      const head = target.closest("th[data-sort]");
      const first = head.dataset.first || "up";
      const next = head.hasAttribute("aria-sort") ? (head.getAttribute("aria-sort") === "ascending" ? "down" : "up") : first;
      keepState({ sort: `${head.dataset.sort}:${next}` });
      applySort();
    }
  });
  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-search]")) return;
    keepState({ q: event.target.value });
    applyFilter();
  });
  document.addEventListener("change", (event) => {
    // By the page's own address: forms change line breaks and the like in what they send.
    if (!event.target.matches("[data-chooses]")) return;
    const { form, name, value } = event.target;
    location.assign(form.dataset.address + (value && `&${name}=${encodeURIComponent(value)}`));
  });
  addEventListener("hashchange", showPage);

  // Keys: / searches, j and k move, Enter opens, r refreshes, o and f go places.
  const rows = () => [...document.querySelectorAll("main tr[data-row]")].filter((row) => !row.hidden);
  const move = (step) => {
    const all = rows();
    if (!all.length) return;
    const now = all.findIndex((row) => row.getAttribute("aria-selected") === "true");
    const next = all[Math.min(Math.max(now + step, 0), all.length - 1)];
    all.forEach((row) => row.removeAttribute("aria-selected"));
    next.setAttribute("aria-selected", "true");
    next.querySelector("a")?.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  const KEYS = {
    "/": () => { const field = document.querySelector("[data-search]"); field?.focus(); field?.select(); },
    j: () => move(1),
    k: () => move(-1),
    r: refresh,
    o: () => document.querySelector("[data-key='o']")?.click(),
    f: () => document.querySelector("[data-key='f']")?.click(),
    "?": () => document.querySelector("dialog")?.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target.matches("[data-search]")) event.target.blur();
    if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
  });

  // Before anything is painted, so that nothing moves when the page is there.
  const arriving = new MutationObserver(() => { showTimes(); setTheme(theme()); });
  arriving.observe(document, { childList: true, subtree: true });
  document.addEventListener("DOMContentLoaded", () => { arriving.disconnect(); showPage(); });
})();
