// Keyboard shortcuts. Every function is available without them.
(function () {
  "use strict";
  var help = document.getElementById("help");
  var pages = { d: "/", t: "/timeline", s: "/sources", e: "/decisions" };
  var began = 0;

  document.querySelectorAll(".keys").forEach(function (e) { e.hidden = false; });

  function writing(e) {
    return e.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName);
  }

  // move focuses the next or the previous finding of a list.
  function move(by) {
    var links = Array.prototype.slice.call(document.querySelectorAll("#main a.open"));
    if (!links.length) return false;
    var at = links.indexOf(document.activeElement);
    var next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))];
    next.focus({ preventScroll: true });
    (next.closest("tr, li") || next).scrollIntoView({ block: "nearest" });
    return true;
  }

  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || help.open) return;
    if (writing(e.target)) {
      if (e.key === "Escape" && e.target.id === "q") e.target.blur();
      return;
    }
    var list = document.activeElement && document.activeElement.classList.contains("open");
    if (began && Date.now() - began < 1500 && pages[e.key]) { location.href = pages[e.key]; return; }
    began = 0;
    switch (e.key) {
      case "j": case "ArrowDown": if (e.key === "j" || list) { if (move(1)) e.preventDefault(); } break;
      case "k": case "ArrowUp": if (e.key === "k" || list) { if (move(-1)) e.preventDefault(); } break;
      case "g": began = Date.now(); break;
      case "?": help.showModal(); e.preventDefault(); break;
      case "/":
        var q = document.getElementById("q");
        if (q) { q.focus(); q.select(); e.preventDefault(); }
        break;
    }
  });
})();
