// Sets the chosen theme before the first paint.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");

  function stored() {
    try { return localStorage.getItem("theme"); } catch (e) { return null; }
  }

  function apply(theme) {
    if (theme === "dark" || theme === "light") root.dataset.theme = theme;
    else delete root.dataset.theme;
  }

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  apply(stored());
  addEventListener("storage", function (e) {
    if (e.key === "theme") apply(e.newValue);
  });
  addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme");
    function say() { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", isDark() ? "Use the light theme" : "Use the dark theme"); }
    button.hidden = false;
    say();
    button.addEventListener("click", function () {
      var theme = isDark() ? "light" : "dark";
      apply(theme);
      try { localStorage.setItem("theme", theme); } catch (e) { /* the theme applies to this page only */ }
      say();
    });
  });
})();
