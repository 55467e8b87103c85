// Collects the signals that distinguish phones, posts the click, and returns the server's response. Runs inside the
// landing page and, as /v1/collector.js, on other sites' pages. Its only global is `afterlink`. It uses no storage and
// no cookies, and sends data only to the server that it came from.
(function (window, document, navigator) {
  'use strict';

  var script = document.currentScript;
  var base = script && script.src ? script.src.replace(/\/v1\/collector\.js.*$/, '') : '';

  // Chrome returns the model and the version only on request, and the request may take long.
  function highEntropy() {
    var data = navigator.userAgentData;
    if (!data || !data.getHighEntropyValues) return Promise.resolve({});
    return data.getHighEntropyValues(['model', 'platformVersion']).catch(function () { return {}; });
  }

  function timezone() {
    try { return Intl.DateTimeFormat().resolvedOptions().timeZone; } catch (error) { return undefined; }
  }

  // The server itself reads the user agent, which names the system and, in some browsers, the model of the phone.
  function signals(hints) {
    var display = window.screen || {};
    return {
      screenWidth: display.width,
      screenHeight: display.height,
      pixelRatio: window.devicePixelRatio,
      timezone: timezone(),
      language: navigator.language,
      languages: navigator.languages && navigator.languages.slice(0, 8),
      touchPoints: navigator.maxTouchPoints,
      uaModel: hints.model || undefined,
      uaPlatformVersion: hints.platformVersion || undefined
    };
  }

  // Resolves to `otherwise` if the promise fails or takes longer, so that no visitor waits for a slow server.
  function within(milliseconds, promise, otherwise) {
    return new Promise(function (resolve) {
      var timer = setTimeout(function () { resolve(otherwise); }, milliseconds);
      promise.then(function (value) { clearTimeout(timer); resolve(value); }, function () {
        clearTimeout(timer);
        resolve(otherwise);
      });
    });
  }

  // Resolves when the page is shown: a browser may prerender a page, and run its script, without ever showing it.
  function shown() {
    if (!document.prerendering) return Promise.resolve();
    return new Promise(function (resolve) {
      document.addEventListener('prerenderingchange', function () { resolve(); }, { once: true });
    });
  }

  // Returns a random key, by which the server recognises a click that is posted twice.
  function key() {
    var words = window.crypto.getRandomValues(new Uint32Array(4));
    return Array.prototype.map.call(words, function (word) { return word.toString(36); }).join('-');
  }

  // Sends plain text, which needs no preflight (CORS), in a request that outlives the page.
  function send(url, text, isLeaving) {
    var isAnswered = false;
    if (navigator.sendBeacon && (isLeaving || !window.fetch)) {
      navigator.sendBeacon(url, text);
      return Promise.resolve(null);
    }
    // If the browser ends requests with their page, the click is posted again when the page ends.
    if (navigator.sendBeacon && !(window.Request && 'keepalive' in Request.prototype)) {
      window.addEventListener('pagehide', function () {
        if (!isAnswered) navigator.sendBeacon(url, text);
      }, { once: true });
    }
    return fetch(url, {
      method: 'POST', body: text, keepalive: true, credentials: 'omit', mode: 'cors',
      headers: { 'Content-Type': 'text/plain;charset=UTF-8' }
    }).then(function (answer) {
      isAnswered = true;
      return answer.ok ? answer.json() : null;
    });
  }

  // Returns the ids that ad networks put on the page's address, within the limits of the server; undefined without any.
  function clickIDs(query) {
    var ids = {}, count = 0;
    query.split('&').forEach(function (pair) {
      var end = pair.indexOf('='), name = pair.slice(0, end < 0 ? 0 : end), value = pair.slice(end + 1);
      if (!value || !/^(?:CLICK_ID_NAMES)$/i.test(name) || name in ids) return;
      // A browser escapes every byte that is not ASCII.
      if (value.replace(/%../g, '.').length > 512 || count === 16) return;
      try { ids[name] = decodeURIComponent(value); count += 1; } catch (error) { /* The value is no UTF-8. */ }
    });
    return count ? ids : undefined;
  }

  // Read when the page starts, because a page that changes its address by script may drop the ids.
  var adClick = clickIDs(window.location.search.slice(1));

  // Posts one click. Options: link or deeplink_url, and the other members of a click's body. With consent: false, or if
  // the browser's Global Privacy Control is on, the click is only counted, without signals of the device and click ids of
  // ad networks. Returns the response (click_id, token, …), or null if there is none; it never throws.
  function click(options) {
    var body = { idempotency_key: key() };
    for (var name in options) if (name !== 'endpoint') body[name] = options[name];
    if (navigator.globalPrivacyControl) body.consent = false;
    var isUnsent = true;
    function post(hints, isLeaving) {
      if (!isUnsent) return Promise.resolve(null);
      isUnsent = false;
      if (body.consent !== false) {
        body.signals = signals(hints);
        if (!body.query && !body.click_ids) body.click_ids = adClick;
      }
      if (document.referrer && !body.referer) body.referer = document.referrer.slice(0, 2048);
      var url = options.endpoint || base + '/v1/deferred-deeplink/click';
      return send(url, JSON.stringify(body), isLeaving);
    }
    return shown().then(function () {
      // If the visitor leaves before the browser has returned its model, the click is posted without the model.
      window.addEventListener('pagehide', function () { post({}, true); }, { once: true });
      return within(150, highEntropy(), {});
    }).then(function (hints) { return post(hints, false); }).catch(function () { return null; });
  }

  window.afterlink = { click: click, key: key, within: within, shown: shown };
})(window, document, navigator);
