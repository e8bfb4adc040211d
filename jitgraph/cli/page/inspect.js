"use strict";
for (const svg of document.querySelectorAll("svg.graph")) {
  const whole = svg.viewBox.baseVal;
  const home = [whole.x, whole.y, whole.width, whole.height];
  const box = { x: home[0], y: home[1], w: home[2], h: home[3] };
  const stage = svg.parentElement, detail = stage.querySelector(".detail");
  const nodes = [...svg.querySelectorAll(".node")], paths = [...svg.querySelectorAll("path")];
  const byName = new Map(nodes.map(node => [node.dataset.name, node]));

  const show = () => svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  const scale = () => Math.max(box.w / svg.clientWidth, box.h / svg.clientHeight);
  const at = event => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [point.x, point.y];
  };
  const zoom = (factor, [x, y]) => {
    box.x = x - (x - box.x) * factor; box.y = y - (y - box.y) * factor;
    box.w *= factor; box.h *= factor; show();
  };
  // A tall graph fitted whole is unreadable: begin at its top, at a size at which labels can be read.
  const begin = () => {
    const readable = 1.15, height = svg.clientHeight * readable, width = svg.clientWidth * readable;
    if (home[3] > height * 1.5 || home[2] > width * 1.5) {
      box.w = width; box.h = height; box.x = home[0] + home[2] / 2 - width / 2; box.y = home[1]; show();
    }
  };

  svg.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.0015), at(event));
  }, { passive: false });
  let drag = null, moved = false;
  svg.addEventListener("pointerdown", event => { drag = [event.clientX, event.clientY]; moved = false; });
  addEventListener("pointermove", event => {
    if (!drag) return;
    const dx = event.clientX - drag[0], dy = event.clientY - drag[1];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true; drag = [event.clientX, event.clientY];
    box.x -= dx * scale(); box.y -= dy * scale(); show();
  });
  addEventListener("pointerup", () => { drag = null; });
  for (const button of stage.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      if (factor) zoom(factor, [box.x + box.w / 2, box.y + box.h / 2]);
      else { [box.x, box.y, box.w, box.h] = home; show(); }
    });
  }

  const light = (chosen, withEdges) => {
    svg.classList.toggle("chosen", chosen.length > 0);
    const names = new Set(chosen.map(node => node.dataset.name));
    nodes.forEach(node => node.classList.toggle("lit", names.has(node.dataset.name)));
    paths.forEach(path => {
      const touches = withEdges && (names.has(path.dataset.from) || names.has(path.dataset.to));
      path.classList.toggle("lit", touches || (names.has(path.dataset.from) && names.has(path.dataset.to)));
      if (touches) for (const end of [path.dataset.from, path.dataset.to]) byName.get(end).classList.add("lit");
    });
  };
  const describe = node => {
    const rows = [["op", node.dataset.name], ["type", node.dataset.type], ["shape", node.dataset.shape],
      ["dtype", node.dataset.dtype], ["line", node.dataset.site], ["inputs", node.dataset.inputs]];
    detail.replaceChildren(document.createElement("dl"));
    for (const [what, value] of rows) {
      if (!value) continue;
      detail.firstChild.append(Object.assign(document.createElement("dt"), { textContent: what }),
        Object.assign(document.createElement("dd"), { textContent: value }));
    }
    const kernel = node.dataset.kernel && document.getElementById(node.dataset.kernel);
    if (kernel) {
      const link = Object.assign(document.createElement("a"),
        { href: "#" + kernel.id, textContent: kernel.querySelector("code").textContent });
      link.addEventListener("click", () => { kernel.open = true; });
      const cell = document.createElement("dd");
      cell.append(link);
      detail.firstChild.append(Object.assign(document.createElement("dt"), { textContent: "kernel" }), cell);
    }
    detail.hidden = false;
  };
  svg.addEventListener("click", event => {
    if (moved) return;
    const node = event.target.closest(".node");
    if (node) { light([node], true); describe(node); } else { light([], false); detail.hidden = true; }
  });
  svg.addEventListener("keydown", event => {
    const node = event.target.closest(".node");
    if (event.key === "Enter" && node) { light([node], true); describe(node); }
  });
  for (const kernel of svg.closest("section").querySelectorAll(".kernel")) {
    const own = nodes.filter(node => node.dataset.kernel === kernel.id);
    kernel.querySelector("summary").addEventListener("mouseenter", () => light(own, false));
    kernel.querySelector("summary").addEventListener("mouseleave", () => light([], false));
  }
  begin();
}
