// morph makes one element equal to another and replaces only the parts that differ:
// focus, selection, typed text and opened details are kept.
window.morph = (function () {
  "use strict";

  // State that the user has changed is not taken over from the server.
  function own(element, name) {
    return (name === "open" && (element.tagName === "DETAILS" || element.tagName === "DIALOG")) || (name === "value" && typing(element));
  }

  // typing reports whether the user is filling in the form of a field, which must
  // not change meanwhile.
  function typing(element) {
    var form = element.form;
    if (!form || form.method !== "post") return false;
    if (form.contains(document.activeElement)) return true;
    return Array.prototype.some.call(form.elements, function (e) {
      return (e.type === "text" || e.tagName === "TEXTAREA") && e.value !== e.defaultValue;
    });
  }

  function attributes(from, to) {
    var i, name;
    for (i = from.attributes.length - 1; i >= 0; i--) {
      name = from.attributes[i].name;
      if (!to.hasAttribute(name) && !own(from, name)) from.removeAttribute(name);
    }
    for (i = 0; i < to.attributes.length; i++) {
      name = to.attributes[i].name;
      if (from.getAttribute(name) !== to.getAttribute(name) && !own(from, name)) from.setAttribute(name, to.getAttribute(name));
    }
  }

  function key(node) {
    if (node.nodeType !== 1) return "";
    return node.id || (node.tagName === "OPTION" ? "=" + node.value : "");
  }

  function alike(a, b) {
    return a.nodeType === b.nodeType && a.nodeName === b.nodeName && key(a) === key(b);
  }

  function children(from, to) {
    var keyed = new Map(), node, next, wanted, match;
    for (node = from.firstChild; node; node = node.nextSibling) if (key(node)) keyed.set(key(node), node);
    node = from.firstChild;
    for (wanted = to.firstChild; wanted; wanted = next) {
      next = wanted.nextSibling;
      match = key(wanted) ? keyed.get(key(wanted)) : null;
      if (match && alike(match, wanted)) {
        keyed.delete(key(wanted));
        if (match === node) node = node.nextSibling;
        else from.insertBefore(match, node);
        morph(match, wanted);
      } else if (node && !key(node) && alike(node, wanted)) {
        match = node;
        node = node.nextSibling;
        morph(match, wanted);
      } else {
        from.insertBefore(document.importNode(wanted, true), node);
      }
    }
    while (node) {
      match = node.nextSibling;
      from.removeChild(node);
      node = match;
    }
  }

  function morph(from, to) {
    if (from.isEqualNode(to)) return;
    if (from.nodeType !== 1) {
      if (from.data !== to.data) from.data = to.data;
      return;
    }
    attributes(from, to);
    var chosen = from.tagName === "SELECT" ? from.value : null;
    children(from, to);
    if (chosen !== null && from.value !== chosen) from.value = chosen;
  }

  return morph;
})();
