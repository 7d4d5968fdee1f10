"use strict";
// Hover, focus or touch a point: its figures appear, and its row in the table is lit; and the other way round.
(() => {
  const tip = document.getElementById("tip");
  const gap = 14;
  let shown = null;

  function show(point) {
    shown = point;
    const box = point.querySelector(".mark").getBoundingClientRect();
    tip.textContent = point.getAttribute("aria-label");
    tip.hidden = false;
    const left = Math.min(Math.max(box.left + box.width / 2 - tip.offsetWidth / 2, 8), innerWidth - tip.offsetWidth - 8);
    const above = box.top - tip.offsetHeight - gap;
    tip.style.left = left + "px";
    tip.style.top = (above > 8 ? above : box.bottom + gap) + "px";
  }

  function hide() {
    shown = null;
    tip.hidden = true;
  }

  function light(stage, on) {
    if (stage === null) return;
    for (const other of document.querySelectorAll("[data-stage]"))
      if (other.getAttribute("data-stage") === stage) other.classList.toggle("lit", on);
  }

  // the script takes over from the browser's own tooltips, which would cover ours
  for (const title of document.querySelectorAll("svg title")) title.remove();

  for (const point of document.querySelectorAll(".point")) {
    const enter = () => { show(point); light(point.getAttribute("data-stage"), true); };
    const leave = () => { hide(); light(point.getAttribute("data-stage"), false); };
    for (const event of ["pointerenter", "focus"]) point.addEventListener(event, enter);
    for (const event of ["pointerleave", "blur"]) point.addEventListener(event, leave);
  }
  for (const row of document.querySelectorAll("tr[data-stage]")) {
    row.addEventListener("pointerenter", () => light(row.getAttribute("data-stage"), true));
    row.addEventListener("pointerleave", () => light(row.getAttribute("data-stage"), false));
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  // tabbing to a point scrolls it into view: the tip goes along instead of vanishing
  for (const event of ["scroll", "resize"])
    addEventListener(event, () => { if (shown !== null) show(shown); }, { passive: true });
})();
