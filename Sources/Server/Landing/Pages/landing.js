// Records the click, then opens the app or the store. If the visitor comes back, the app's button comes first.
(function (window, document, navigator) {
  'use strict';

  var page = document.body.dataset;
  var open = document.getElementById('open');
  var store = document.getElementById('store');
  var code = document.getElementById('code');
  var copy = document.getElementById('copy');
  var token = null;

  // An iPad that requests desktop pages differs from a Mac only by its touch points.
  var isTablet = !!page.tablet && navigator.maxTouchPoints > 1;
  if (page.tablet) document.body.classList.add(isTablet ? 'tablet' : 'computer');

  // Without this script, the button leads to the server, which records the click. The script points it to the store.
  if (store) store.href = isTablet ? page.tabletStore || page.store : page.store;

  // Browsers do not send the fragment to the server, so the script adds it to the link that opens the app.
  var hash = window.location.hash.length > 1 ? window.location.hash : '';

  function withToken(url) {
    var end = url.indexOf('#');
    if (end < 0) end = url.length;
    var start = url.slice(0, end);
    return start + (start.indexOf('?') < 0 ? '?' : '&') + 'al=' + token + url.slice(end);
  }

  // Makes Android's intent URL: the intent part starts at the last number sign, and names the store as the fallback.
  function intent() {
    var url = page.intent;
    if (hash && page.open.indexOf('#') < 0) {
      url = url.split('#Intent;').join('#' + hash.slice(1).replace(/[#;]/g, encodeURIComponent) + '#Intent;');
    }
    if (!store) return url.replace(/S\.browser_fallback_url=\{fallback\};/, '');
    return url.split('{fallback}').join(encodeURIComponent(store.href));
  }

  function lead() {
    if (store && token && page.play) store.href = page.play.split('{al}').join(token);
    if (!open) return;
    var url = page.intent ? intent() : page.open + (page.open.indexOf('#') < 0 ? hash : '');
    // Only the app uses the token: a link to a web page gets none.
    open.href = token && !/^https?:/.test(page.open) ? withToken(url) : url;
  }

  function carry(answer) {
    if (!answer || !/^[A-Za-z0-9_-]+$/.test(answer.token || '')) return;
    token = answer.token;
    lead();
    if (code) code.src = page.code + encodeURIComponent(token);
  }

  function leave() {
    var isToStore = isTablet && page.tabletStore;
    if (page.then === 'open' && open) window.location.href = open.href;
    // The pasteboard needs a tap. So an iPad waits for it, even if the page sends computers to the store at once.
    else if (store && (isToStore ? !page.pasteboard : page.then === 'store')) window.location.href = store.href;
  }

  // A visitor who returns from the store may have installed the app.
  function returned() {
    if (!document.hidden) document.body.classList.add('returned');
  }

  function write(text) {
    if (navigator.clipboard && navigator.clipboard.writeText) {
      navigator.clipboard.writeText(text).catch(function () {});
    }
  }

  if (store && page.pasteboard) {
    store.addEventListener('click', function () {
      if (token) write(page.pasteboard + '?al=' + token);
    });
  }
  if (copy) {
    copy.hidden = false;
    copy.addEventListener('click', function () {
      write(copy.dataset.text);
      copy.textContent = copy.dataset.done;
    });
  }

  // The key is stored with the page's history entry, so that a reload or a return does not count as a new click.
  var state = window.history.state;
  var key = state && state.afterlink;
  var isBack = !!key;
  if (!isBack) {
    key = window.afterlink.key();
    try { window.history.replaceState({ afterlink: key }, ''); } catch (error) { /* A sandboxed page has no state. */ }
  }

  lead();
  var clicked = window.afterlink.click({
    endpoint: page.endpoint,
    link: page.link,
    variant: page.variant || undefined,
    query: window.location.search.slice(1, 8193) || undefined,
    idempotency_key: key
  });
  clicked.then(carry);
  // A prerendered page must not open the app or the store before it is shown.
  window.afterlink.shown().then(function () {
    return window.afterlink.within(300, clicked, null);
  }).then(function () {
    if (isBack) returned();
    else leave();
    document.addEventListener('visibilitychange', returned);
    window.addEventListener('pageshow', function (event) { if (event.persisted) returned(); });
  });
})(window, document, navigator);
