// Texts that attack pages that show them, each for another context. One that is executed sets
// window.__xss, opens a dialog or requests /canary.
const act = 'window.__xss=1';
const call = '(window.__xss=1,fetch(`/canary`))';

export const hostile = [
  // elements
  `<script>${act}</script>`,
  `<SCRIPT SRC=/canary></SCRIPT>`,
  `<scr<script>ipt>${act}</scr</script>ipt>`,
  `<img src=/canary onerror="${act}">`,
  `<img src=x onerror=alert(1)>`,
  `<svg onload="${act}">`,
  `<svg><script href="/canary"></script></svg>`,
  `<svg><animate onbegin="${act}" attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=${act}></svg>#x">`,
  `<iframe src="javascript:parent.${act}"></iframe>`,
  `<iframe srcdoc="<script>parent.${act}</script>"></iframe>`,
  `<object data="javascript:${act}"></object>`,
  `<embed src="/canary">`,
  `<link rel=stylesheet href=/canary>`,
  `<meta http-equiv=refresh content="0;url=/canary">`,
  `<base href="http://127.0.0.1:1/">`,
  `<form action=/canary><input autofocus onfocus="${act}"></form>`,
  `<details open ontoggle="${act}">`,
  `<video><source onerror="${act}"></video>`,
  `<body onload="${act}">`,
  `<marquee onstart="${act}">x</marquee>`,
  // attributes
  `" onmouseover="${act}" x="`,
  `' onfocus='${act}' autofocus='`,
  '` onclick=`' + act + '` ',
  `x" style="background:url(/canary)" y="`,
  `--><script>${act}</script><!--`,
  `</textarea><script>${act}</script>`,
  `</title><script>${act}</script>`,
  `</style><script>${act}</script>`,
  `]]><script>${act}</script>`,
  // addresses
  `javascript:${call}`,
  `JaVaScRiPt:${act}//http://x`,
  `\u0001javascript:${act}`,
  `data:text/html,<script>${act}</script>`,
  `vbscript:${act}`,
  `//127.0.0.1:1/canary`,
  // after parsing
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${act}&gt;">`,
  `<noscript><p title="</noscript><img src=x onerror=${act}>">`,
  `<template><script>${act}</script></template>`,
  `&lt;img src=x onerror=${act}&gt;`,
  `\\u003cscript\\u003e${act}\\u003c/script\\u003e`,
  // templates, styles, names
  '${' + act + '}',
  '#{7*7} <%= 7*7 %> {%raw%}',
  `{"__proto__":{"xss":1},"constructor":{"prototype":{"xss":1}}}`,
  '__proto__',
  'constructor',
  `</style>*{background:url(/canary)}@import '/canary';`,
  // letters
  `\u202egnp.exe\u202d \u2066<b>\u2069 \u200b\ufeff\u0301\u0301\u0301`,
  `﹤script﹥${act}﹤/script﹥ ＜img src=x onerror=${act}＞`,
  `${'W'.repeat(150)} ${'\u{1f469}\u200d\u{1f4bb}'.repeat(8)} ﷽`,
];
