// Keeps an open page current: driftd sends an event after a change, and the page
// fetches its main part again.
(function () {
  "use strict";
  var minute = 60000;
  var sign = document.getElementById("live");
  var stream = null, again = null, planned = null, request = null;
  // gone reports that the event stream is closed, old that the last fetch failed.
  var told = "", ended = false, gone = false, old = false, missed = false;
  var seen = Date.now(); // when the page was last as it was at the server

  function main() { return document.getElementById("main"); }

  // now returns the server's time, to which the shown ages refer.
  function now() { return Date.parse(main().dataset.asof) + (Date.now() - seen); }

  function two(n) { return (n < 10 ? "0" : "") + n; }

  function clock() {
    var at = new Date(Date.parse(main().dataset.asof));
    return two(at.getHours()) + ":" + two(at.getMinutes());
  }

  function show(state, text) {
    sign.hidden = false;
    if (sign.dataset.state === state && sign.textContent === text) return;
    sign.dataset.state = state;
    sign.textContent = text;
  }

  function showState() {
    if (ended) return;
    if (gone) show("lost", "reconnecting…, as of " + clock());
    else if (old) show("lost", "could not be updated, as of " + clock());
    else show("live", "live");
  }

  function ago(age) {
    var n, thing;
    if (age < 1000) return "just now";
    if (age < minute) { n = age / 1000; thing = "second"; }
    else if (age < 60 * minute) { n = age / minute; thing = "minute"; }
    else if (age < 1440 * minute) { n = age / (60 * minute); thing = "hour"; }
    else { n = age / (1440 * minute); thing = "day"; }
    n = Math.floor(n);
    return n.toLocaleString("en-US") + " " + thing + (n === 1 ? "" : "s") + " ago";
  }

  function count() {
    var at = now();
    document.querySelectorAll("time[data-ago]").forEach(function (t) {
      var said = ago(Math.max("within" in t.dataset ? 1000 : 0, at - Date.parse(t.dateTime)));
      if ("within" in t.dataset) said = said.replace(" ago", "");
      if (t.textContent !== said) t.textContent = said;
    });
  }

  // swap updates the main part where it differs from the new one.
  function swap(text) {
    var fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    if (!fresh) return;
    // The notice stays until the page is left: without it everything would move up, and
    // a click in this moment would hit another button.
    var notice = document.getElementById("notice");
    if (notice) fresh.insertBefore(notice.cloneNode(true), fresh.firstElementChild);
    var x = scrollX, y = scrollY;
    window.morph(main(), fresh);
    if (scrollX !== x || scrollY !== y) scrollTo(x, y);
    seen = Date.now();
    document.title = main().dataset.title;
    var asof = document.getElementById("asof");
    asof.dateTime = main().dataset.asof;
    asof.textContent = clock();
    count();
  }

  // refresh fetches the main part and aborts an earlier fetch.
  function refresh() {
    if (ended) return;
    if (document.hidden) { missed = true; return; }
    missed = false;
    clearTimeout(planned);
    planned = null;
    if (request) request.abort();
    var mine = request = new AbortController();
    var limit = setTimeout(function () { mine.abort(); }, 20000);
    fetch(location.href, { headers: { "X-Fragment": "1" }, cache: "no-store", credentials: "same-origin", signal: mine.signal })
      .then(function (answer) {
        if (answer.status === 401) { end(); return null; }
        if (answer.status >= 500) throw new Error("status " + answer.status);
        return answer.text();
      })
      .then(function (text) {
        if (text === null || mine !== request) return;
        old = false;
        swap(text);
        if (told && told !== main().dataset.revision) plan(1000);
      })
      .catch(function () { if (mine === request && !ended) { old = true; plan(5000); } })
      .finally(function () {
        clearTimeout(limit);
        if (mine === request) request = null;
        showState();
      });
  }

  // plan refreshes after a short random delay, so that open pages do not fetch at once.
  function plan(wait) {
    if (planned === null) planned = setTimeout(refresh, wait + Math.random() * 1500);
  }

  function end() {
    ended = true;
    disconnect();
    var link = document.createElement("a");
    link.href = "/login?next=" + encodeURIComponent(location.pathname + location.search);
    link.textContent = "log in again";
    show("ended", "as of " + clock() + ": ");
    sign.append(link);
  }

  function disconnect() {
    clearTimeout(again);
    again = null;
    if (stream) stream.close();
    stream = null;
  }

  function connect() {
    if (ended || stream || document.hidden) return;
    var mine = stream = new EventSource("/events");
    mine.addEventListener("open", function () {
      if (gone) plan(0);
      gone = false;
      showState();
    });
    mine.addEventListener("changed", function (e) {
      told = e.data;
      if (told !== main().dataset.revision) plan(0);
    });
    mine.addEventListener("logout", end);
    mine.addEventListener("error", function () {
      gone = true;
      showState();
      if (mine.readyState !== EventSource.CLOSED || mine !== stream) return;
      disconnect();
      refresh(); // tells whether somebody is still logged in
      again = setTimeout(connect, 5000 + Math.random() * 10000);
    });
  }

  document.addEventListener("visibilitychange", function () {
    if (document.hidden) { disconnect(); return; }
    connect();
    if (missed || Date.now() - seen > minute) refresh();
    count();
  });
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", function (e) {
    document.querySelectorAll("button[data-sent]").forEach(function (b) { b.disabled = false; delete b.dataset.sent; });
    if (e.persisted) { connect(); refresh(); }
  });
  setInterval(count, 5000);
  setInterval(function () { if (!document.hidden && Date.now() - seen > minute - 5000) refresh(); }, minute / 2);

  // The filter is applied while the user types.
  var typed = null;
  function filter(form) {
    clearTimeout(typed);
    var q = new URLSearchParams();
    new FormData(form).forEach(function (value, name) { if (value !== "" && !(name === "state" && value === "open")) q.append(name, value); });
    var text = q.toString();
    history.replaceState(null, "", form.getAttribute("action") + (text ? "?" + text : ""));
    refresh();
  }
  document.addEventListener("input", function (e) {
    var form = e.target.form;
    if (!form || form.id !== "filter" || !e.target.name) return;
    clearTimeout(typed);
    typed = setTimeout(filter, e.target.type === "search" ? 250 : 0, form);
  });
  document.addEventListener("submit", function (e) {
    var form = e.target;
    if (form.id === "filter") { e.preventDefault(); filter(form); return; }
    if (form.method !== "post") return;
    // A second click must not submit the form again.
    setTimeout(function () {
      form.querySelectorAll("button").forEach(function (b) { b.disabled = true; b.dataset.sent = ""; });
    }, 0);
  });
  // A reload must not show the notice again.
  var here = new URL(location.href);
  if (here.searchParams.has("notice")) {
    here.searchParams.delete("notice");
    history.replaceState(null, "", here);
  }
  count();
  connect();
})();
