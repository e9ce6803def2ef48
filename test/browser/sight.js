// Returns the accessibility problems of the page according to WCAG 2.2: 1.3.1, 1.4.3, 2.4.1,
// 2.4.2, 2.5.8, 3.1.1, 4.1.2.
(() => {
	const flaws = [];
	const all = selector => [...document.querySelectorAll(selector)];
	const shown = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
	const at = e => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.className && e.className.baseVal === undefined ? "." + e.className : "") + " " + JSON.stringify((e.innerText || "").slice(0, 40));

	if (!document.documentElement.lang) flaws.push("the page has no language");
	if (!document.title.trim()) flaws.push("the page has no title");
	if (all("h1").length !== 1) flaws.push(all("h1").length + " main headings");
	for (const landmark of ["header", "main", "footer"]) if (all("body > " + landmark).length !== 1) flaws.push("no single " + landmark);
	if (all("nav").some(n => !n.getAttribute("aria-label"))) flaws.push("a nav has no name");

	const ids = new Map();
	all("[id]").forEach(e => ids.set(e.id, (ids.get(e.id) || 0) + 1));
	ids.forEach((n, id) => { if (n > 1) flaws.push("id " + id + " occurs " + n + " times"); });
	for (const name of ["for", "aria-labelledby", "aria-describedby", "list"]) {
		all("[" + name + "]").forEach(e => e.getAttribute(name).split(/\s+/).forEach(id => { if (!document.getElementById(id)) flaws.push(at(e) + " names " + id + ", which does not exist"); }));
	}

	let level = 0;
	all("h1, h2, h3, h4, h5, h6").filter(shown).forEach(h => {
		const n = +h.tagName[1];
		if (n > level + 1) flaws.push(at(h) + " skips a level");
		level = n;
	});

	all("input:not([type=hidden]), select, textarea").forEach(e => {
		const label = [...(e.labels || [])].map(l => l.textContent).join("") || e.getAttribute("aria-label") || "";
		if (!label.trim()) flaws.push(at(e) + " has no label");
	});
	all("button, a[href]").filter(shown).forEach(e => {
		if (!(e.innerText.trim() || e.getAttribute("aria-label"))) flaws.push(at(e) + " has no name");
	});
	all("img:not([alt]), svg:not([aria-hidden]):not([role])").forEach(e => flaws.push(at(e) + " says nothing and is not hidden"));
	all("[style], [onclick]").forEach(e => flaws.push(at(e) + " has a style or a handler of its own"));
	all("table").forEach(t => { if (!t.querySelector("th") || !(t.caption || t.getAttribute("aria-label"))) flaws.push(at(t) + " has no heads or no caption"); });

	// A target has at least 24 by 24 pixels, unless it is in a sentence.
	all("button, input:not([type=hidden]), select, summary, nav a").filter(shown).forEach(e => {
		const boxes = [e, ...(e.labels || [])].map(b => b.getBoundingClientRect()), box = boxes[0];
		if (!boxes.some(b => b.width >= 24 && b.height >= 24)) flaws.push(at(e) + " is " + Math.round(box.width) + " by " + Math.round(box.height) + " pixels");
	});

	// Contrast, with the colours that are painted.
	const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
	const read = colour => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = colour;
		canvas.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
		return [r, g, b, a / 255];
	};
	const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
	const painted = e => {
		const layers = [];
		for (let n = e; n; n = n.parentElement) layers.unshift(read(getComputedStyle(n).backgroundColor));
		const canvasColour = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
		return layers.reduce((under, top) => over(top, under), canvasColour);
	};
	const light = c => {
		const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
	const seen = new Set();
	const judge = (e, style, what) => {
		const ground = painted(e);
		let opacity = 1;
		for (let n = e; n; n = n.parentElement) opacity *= +getComputedStyle(n).opacity;
		const ink = read(style.color);
		ink[3] *= opacity;
		const got = contrast(over(ink, ground), ground);
		const size = parseFloat(style.fontSize), bold = +style.fontWeight >= 700;
		const want = size >= 24 || bold && size >= 18.66 ? 3 : 4.5;
		const key = style.color + ground + want + e.className;
		if (got < want && !seen.has(key)) { seen.add(key); flaws.push(at(e) + what + " has contrast " + got.toFixed(2) + ", want " + want); }
	};
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const e = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !shown(e) || e.closest("script, style, option, [disabled]")) continue;
		judge(e, getComputedStyle(e), "");
	}
	all("input[placeholder]").filter(shown).forEach(e => judge(e, getComputedStyle(e, "::placeholder"), " (placeholder)"));
	all("select, input:not([type=checkbox]):not([type=radio]):not([type=hidden])").filter(shown).forEach(e => judge(e, getComputedStyle(e), ""));
	return flaws;
})()
