// What the landing page does: tell the click, then open the app or the store, and be of use when somebody comes back.
(function (window, document, navigator) {
  'use strict';

  var page = document.body.dataset;
  var open = document.getElementById('open');
  var store = document.getElementById('store');
  var code = document.getElementById('code');
  var copy = document.getElementById('copy');
  var token = null;

  // An iPad that asks for desktop pages is known by its touch points alone.
  var isTablet = !!page.tablet && navigator.maxTouchPoints > 1;
  if (page.tablet) document.body.classList.add(isTablet ? 'tablet' : 'computer');

  // The buttons lead by way of the server, which records the click where no script does.
  if (store) store.href = isTablet ? page.tabletStore || page.store : page.store;

  // The fragment stays in the browser; the app gets it as it would have, had it been opened at once.
  var hash = window.location.hash.length > 1 ? window.location.hash : '';

  function withToken(url) {
    var end = url.indexOf('#');
    if (end < 0) end = url.length;
    var start = url.slice(0, end);
    return start + (start.indexOf('?') < 0 ? '?' : '&') + 'al=' + token + url.slice(end);
  }

  // An intent ends with the last number sign, and falls back to the store.
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
    // A page on the web has no use for it.
    open.href = token && !/^https?:/.test(page.open) ? withToken(url) : url;
  }

  function carry(answer) {
    if (!answer || !/^[A-Za-z0-9_-]+$/.test(answer.token || '')) return;
    token = answer.token;
    lead();
    if (code) code.src = page.code + encodeURIComponent(token);
  }

  function leave() {
    if (page.then === 'open' && open) window.location.href = open.href;
    else if (store && (page.then === 'store' || isTablet && page.tabletStore && !page.pasteboard)) window.location.href = store.href;
  }

  // Once somebody has been to the store, the app may be there.
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

  // Kept with the page's place in the history: a reload, or a way back, is the same visit.
  var state = window.history.state;
  var key = state && state.afterlink;
  var isBack = !!key;
  if (!isBack) {
    key = window.afterlink.key();
    try { window.history.replaceState({ afterlink: key }, ''); } catch (error) { /* A page in a sandbox has none. */ }
  }

  lead();
  var clicked = window.afterlink.click({
    endpoint: page.endpoint,
    link: page.link,
    variant: page.variant || undefined,
    query: window.location.search.slice(1, 2049) || undefined,
    idempotency_key: key
  });
  clicked.then(carry);
  // A page that a browser runs ahead leads nowhere before somebody sees it.
  window.afterlink.shown().then(function () {
    return window.afterlink.within(300, clicked, null);
  }).then(function () {
    if (isBack) returned();
    else leave();
    document.addEventListener('visibilitychange', returned);
    window.addEventListener('pageshow', function (event) { if (event.persisted) returned(); });
  });
})(window, document, navigator);
