// What a reader would complain about, measured on the page as it is shown: lists of sentences, empty where all is well.
(() => {
  const visible = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("#tip, title, desc");
  const name = (element) => `${element.tagName.toLowerCase()} “${element.textContent.trim().slice(0, 40)}”`;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const holders = new Set();
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && !parent.closest("script, style") && visible(parent)) holders.add(parent);
  }
  const texts = [...holders].filter((element) => element.getBoundingClientRect().width > 2); // not hidden for screen readers only

  function pixels(element) {
    const size = parseFloat(getComputedStyle(element).fontSize);
    return element.ownerSVGElement ? size * element.getScreenCTM().a : size;
  }

  function small(least) {
    return texts.filter((element) => pixels(element) < least - 0.01).map((element) => `${name(element)}: ${pixels(element).toFixed(1)} px`);
  }

  function wide() {
    const most = document.documentElement.clientWidth + 0.5;
    const out = texts.filter((element) => element.getBoundingClientRect().right > most || element.getBoundingClientRect().left < -0.5);
    const boxes = [...document.querySelectorAll("table, svg, pre, figure")].filter(visible);
    const cut = boxes.filter((element) => element.getBoundingClientRect().right > most || element.scrollWidth > element.clientWidth + 1 && element.tagName === "PRE");
    const scrolled = [...document.querySelectorAll(".scroll")].filter((element) => element.scrollWidth > element.clientWidth + 1);
    const page = document.documentElement.scrollWidth > most ? ["the page scrolls sideways"] : [];
    return [...page, ...[...out, ...cut, ...scrolled].map((element) => `${name(element)} leaves the page`)];
  }

  function overlaps() {
    const found = [];
    for (const svg of [...document.querySelectorAll("svg")].filter(visible)) {
      const labels = [...svg.querySelectorAll("text")].map((element) => ({ element, box: element.getBoundingClientRect() }));
      const frame = svg.getBoundingClientRect();
      labels.forEach(({ element, box }, at) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
          found.push(`${name(element)} leaves its plot`);
        for (const other of labels.slice(0, at)) {
          const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
          const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
          if (across > 0.5 && down > 0.5) found.push(`${name(element)} covers ${name(other.element)}`);
        }
      });
    }
    return found;
  }

  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const opaque = (colour) => colour.startsWith("rgb") && (channels(colour)[3] ?? 1) > 0;

  function luminance(colour) {
    const [red, green, blue] = channels(colour).map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function shapeBelow(element) {
    element.scrollIntoView({ block: "center" });
    const box = element.getBoundingClientRect();
    const below = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const shapes = below.filter((shape) => shape.ownerSVGElement === element.ownerSVGElement && ["rect", "polygon", "circle"].includes(shape.tagName));
    return shapes.map((shape) => getComputedStyle(shape).fill).find(opaque);
  }

  function ground(element) {
    const shape = element.ownerSVGElement && shapeBelow(element);
    if (shape) return shape;
    for (let at = element; at; at = at.parentElement)
      if (opaque(getComputedStyle(at).backgroundColor)) return getComputedStyle(at).backgroundColor;
    return "rgb(255, 255, 255)";
  }

  function contrast(element) {
    const style = getComputedStyle(element);
    const [low, high] = [luminance(element.ownerSVGElement ? style.fill : style.color), luminance(ground(element))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  function faint(least) {
    return texts.map((element) => [element, contrast(element)]).filter(([, ratio]) => ratio < least).map(([element, ratio]) => `${name(element)}: contrast ${ratio.toFixed(2)}`);
  }

  const recommendation = ["h1", ".lead", ".tiles", ".use"].map((part) => document.querySelector(`#recommendation ${part}`)).filter(Boolean);

  function fold() {
    scrollTo(0, 0);
    return recommendation.filter((part) => part.getBoundingClientRect().bottom > innerHeight).map((part) => `${name(part)} ends at ${part.getBoundingClientRect().bottom.toFixed(0)} of ${innerHeight}`);
  }

  return { fold: fold(), small: small(11), wide: wide(), overlaps: overlaps(), faint: faint(4.5), texts: texts.length, parts: recommendation.length };
})()
