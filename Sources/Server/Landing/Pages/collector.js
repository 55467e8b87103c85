// Collects what tells one phone from another, posts the click, and says what it was answered.
// Runs inside the landing page and, as /v1/collector.js, on other people's pages. No global but `afterlink`, no
// storage, no cookies, nothing sent anywhere but to the server that it came from.
(function (window, document, navigator) {
  'use strict';

  var script = document.currentScript;
  var base = script && script.src ? script.src.replace(/\/v1\/collector\.js.*$/, '') : '';

  // Chrome tells the model and the version to those alone who ask, and may take its time.
  function highEntropy() {
    var data = navigator.userAgentData;
    if (!data || !data.getHighEntropyValues) return Promise.resolve({});
    return data.getHighEntropyValues(['model', 'platformVersion']).catch(function () { return {}; });
  }

  function timezone() {
    try { return Intl.DateTimeFormat().resolvedOptions().timeZone; } catch (error) { return undefined; }
  }

  // Safari and browsers on Android name the phone in their agent, which the server reads itself.
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

  // Whatever takes longer counts as not there: nobody waits for a click to be told.
  function within(milliseconds, promise, otherwise) {
    return new Promise(function (resolve) {
      var timer = setTimeout(function () { resolve(otherwise); }, milliseconds);
      promise.then(function (value) { clearTimeout(timer); resolve(value); }, function () {
        clearTimeout(timer);
        resolve(otherwise);
      });
    });
  }

  // A browser that fetches ahead may run a page that nobody sees.
  function shown() {
    if (!document.prerendering) return Promise.resolve();
    return new Promise(function (resolve) {
      document.addEventListener('prerenderingchange', function () { resolve(); }, { once: true });
    });
  }

  // By it the server knows a click again that is told twice.
  function key() {
    var words = window.crypto.getRandomValues(new Uint32Array(4));
    return Array.prototype.map.call(words, function (word) { return word.toString(36); }).join('-');
  }

  // A plain text is sent without asking first whether it may be (CORS), and outlives the page.
  function send(url, text, isLeaving) {
    var isAnswered = false;
    if (navigator.sendBeacon && (isLeaving || !window.fetch)) {
      navigator.sendBeacon(url, text);
      return Promise.resolve(null);
    }
    // Where a request ends with its page, what may be lost is told once more.
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

  // Posts one click. Options: link or deeplink_url, and whatever else a click may say; consent: false counts the
  // visitor and tells nothing of his device, as his browser's Global Privacy Control does.
  // Gives the answer (click_id, token, …), or null where there is none: it never fails.
  function click(options) {
    var body = { idempotency_key: key() };
    for (var name in options) if (name !== 'endpoint') body[name] = options[name];
    if (navigator.globalPrivacyControl) body.consent = false;
    var isUnsent = true;
    function post(hints, isLeaving) {
      if (!isUnsent) return Promise.resolve(null);
      isUnsent = false;
      if (body.consent !== false) body.signals = signals(hints);
      if (document.referrer && !body.referer) body.referer = document.referrer.slice(0, 2048);
      var url = options.endpoint || base + '/v1/deferred-deeplink/click';
      return send(url, JSON.stringify(body), isLeaving);
    }
    return shown().then(function () {
      // Somebody who leaves before the browser has told its model is a click all the same.
      window.addEventListener('pagehide', function () { post({}, true); }, { once: true });
      return within(150, highEntropy(), {});
    }).then(function (hints) { return post(hints, false); }).catch(function () { return null; });
  }

  window.afterlink = { click: click, key: key, within: within, shown: shown };
})(window, document, navigator);
