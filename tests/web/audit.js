() => {
  const parts = (colour) => {
    const numbers = (colour.match(/[\d.]+/g) || []).map(Number);
    const [r, g, b, a = 1] = colour.startsWith("color(") ? numbers.map((n, i) => (i < 3 ? n * 255 : n)) : numbers;
    return [r, g, b, a];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour.map((n) => (n / 255 <= 0.04045 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [less, more] = [light(one), light(other)].sort((a, b) => a - b);
    return (more + 0.05) / (less + 0.05);
  };
  const seen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width && height && !element.closest(".sr, .skip, dialog:not([open]), option, title, script, style");
  };
  const pale = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || !seen(element)) continue;
    const style = getComputedStyle(element);
    const drawn = element.closest("svg");
    const below = [];
    let opacity = 1;
    for (let one = element; one; one = one.parentElement) {
      opacity *= parseFloat(getComputedStyle(one).opacity);
      below.push(parts(getComputedStyle(one).backgroundColor));
      if (one.matches(".node")) below.push(parts(getComputedStyle(one.querySelector("rect")).fill));
    }
    const ground = below.reverse().reduce((ground, one) => over(one, ground), [255, 255, 255, 1]);
    const ink = parts(drawn ? style.fill : style.color);
    const found = contrast(over([...ink.slice(0, 3), ink[3] * opacity], ground), ground);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (found < (large ? 3 : 4.5)) pale.push(`${texts.currentNode.textContent.trim().slice(0, 40)}: ${found.toFixed(2)}`);
  }
  const controls = [...document.querySelectorAll("a, button, input, select, summary, [role='region']")].filter(seen);
  const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.title || one.labels?.length;
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  return {
    pale,
    nameless: controls.filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 120)),
    twice: ids.filter((id, n) => ids.indexOf(id) < n),
    firstHeads: document.querySelectorAll("h1").length,
  };
}
