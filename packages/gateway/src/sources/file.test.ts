import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkCompile } from '../compile/check.ts'
import { loadConfig } from './file.ts'
import type { LoadedConfig } from './file.ts'
import { firstProblems, printProblem, printProblems } from './print-problems.ts'
import '../testing/all-features.ts'

const fixtures = new URL('../testing/fixtures/', import.meta.url)
const fixture = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8')

function load(text: string, env: Record<string, string> = {}) {
  return loadConfig(text, {
    file: 'gateway.yaml',
    dir: '/etc/portico',
    env,
    readFile(path) {
      if (path.includes('missing')) throw new Error('ENOENT')
      return path.endsWith('broken') ? 'not PEM' : fixture(path.slice(path.lastIndexOf('/') + 1))
    },
  })
}

function loaded(text: string, env: Record<string, string> = {}): LoadedConfig {
  const result = load(text, env)
  assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
  return result
}

function problemLines(text: string, env: Record<string, string> = {}): string[] {
  const result = load(text, env)
  assert.ok(!result.ok, 'the config was accepted')
  return result.problems.map(printProblem)
}

test('a file becomes flat resources with keys', () => {
  const { ir, files } = loaded(`
backends:
- name: users
  static: { host: Users.internal, port: 8080 }
  policies: { tls: { mtlsCertificateRef: { cert: tls.crt, key: tls.key }, caCertificateRefs: [other.crt] } }
binds:
- port: 8443
  listeners:
  - protocol: https
    hostname: "*.Example.com"
    tls: { cert: tls.crt, key: tls.key, root: other.crt }
    policies: { cors: { allowOrigins: ["*"] } }
    routes:
    - matches:
      - { path: { exact: /a }, method: GET, headers: [{ name: X-Team, value: { exact: a } }], query: [{ name: v, value: { regex: "1|2" } }] }
      policies: { requestMirror: { backend: "127.0.0.1:9" }, backend: { http: { version: http1 } } }
      backends: [{ backend: users, weight: 9 }, { host: "[::1]:80", policies: { tcp: { connectTimeout: 1s } } }]
    - name: last
      policies: { directResponse: { status: 200 } }
`)
  assert.deepEqual(ir.binds, [{ key: 'bind/8443', port: 8443, address: '' }])
  const [listener] = ir.listeners
  assert.deepEqual(
    [listener?.key, listener?.hostname, listener?.protocol],
    ['bind/8443/listener0', '*.example.com', 'HTTPS'],
  )
  assert.deepEqual(listener?.tls, { cert: fixture('tls.crt'), key: fixture('tls.key'), root: fixture('other.crt') })
  const route = 'bind/8443/listener0/route0'
  assert.deepEqual(
    ir.routes.map(({ key, backends }) => ({ key, backends })),
    [
      {
        key: route,
        backends: [
          { key: `${route}/backend/0`, backend: 'backend/users', weight: 9 },
          { key: `${route}/backend/1`, backend: `${route}/backend/1`, weight: 1 },
        ],
      },
      { key: 'bind/8443/listener0/last', backends: [] },
    ],
  )
  assert.deepEqual(ir.routes[0]?.matches, [
    {
      path: { kind: 'exact', value: '/a' },
      method: 'GET',
      headers: [{ name: 'x-team', kind: 'exact', value: 'a' }],
      query: [{ name: 'v', kind: 'regex', value: '1|2' }],
    },
  ])
  assert.deepEqual(ir.routes[1]?.matches[0]?.path, { kind: 'pathPrefix', value: '/' })
  assert.deepEqual(ir.backends, [
    { key: 'backend/users', name: 'users', target: { kind: 'static', host: 'users.internal', port: 8080 } },
    { key: 'host/127.0.0.1:9', name: '127.0.0.1:9', target: { kind: 'static', host: '127.0.0.1', port: 9 } },
    { key: `${route}/backend/1`, name: '[::1]:80', target: { kind: 'static', host: '::1', port: 80 } },
  ])
  const byTarget = new Map(ir.policies.map((policy) => [policy.key, policy]))
  assert.equal(byTarget.get('inline/gateway')?.frontend?.http?.http1MaxHeaders, 100)
  assert.deepEqual(byTarget.get('inline/backend/backend/users')?.backend?.tls, {
    mtlsCertificateRef: { cert: fixture('tls.crt'), key: fixture('tls.key') },
    caCertificateRefs: [fixture('other.crt')],
  })
  assert.deepEqual(byTarget.get(`inline/rule/${route}`)?.traffic, {
    requestMirror: { backend: 'host/127.0.0.1:9', percentage: 100 },
  })
  assert.deepEqual(byTarget.get(`inline/rule/${route}`)?.backend, { http: { version: 'HTTP1' } })
  assert.deepEqual(byTarget.get(`inline/backend/${route}/backend/1`)?.backend, { tcp: { connectTimeout: 1000 } })
  assert.deepEqual(files, ['/etc/portico/tls.crt', '/etc/portico/tls.key', '/etc/portico/other.crt'])
  assert.deepEqual(structuredClone(ir), ir)
})

test('every problem is reported at once, in file order, with its place and a suggestion', () => {
  const lines = problemLines(`binds:
- port: 70000
  listeners:
  - protocol: HTP
    hostnme: a.example
    routes:
    - policies:
        cors: { allowOrigin: [] }
      backends: [{ backend: user }, { host: x }]
backends:
- name: users
  static: { host: a }
`)
  assert.deepEqual(lines, [
    'gateway.yaml:2:9: binds[0].port: found 70000, expected an integer from 0 to 65535',
    'gateway.yaml:4:15: binds[0].listeners[0].protocol: found "HTP", expected one of `HTTP`, `HTTPS`, `TLS`, `TCP`, `UDP` or `HBONE`\n    did you mean `HTTP`?',
    'gateway.yaml:5:5: binds[0].listeners[0].hostnme: unknown key `hostnme`, expected `name`, `protocol`, `hostname`, `tls`, `policies` or `routes`\n    did you mean `hostname`?',
    'gateway.yaml:8:17: binds[0].listeners[0].routes[0].policies.cors.allowOrigin: unknown key `allowOrigin`, expected `allowOrigins`, `allowMethods`, `allowHeaders`, `exposeHeaders`, `allowCredentials`, `maxAge` or `mode`\n    did you mean `allowOrigins`?',
    'gateway.yaml:9:20: binds[0].listeners[0].routes[0].backends[0].backend: found no backend named `user`, expected the name of a backend in the top-level `backends`\n    did you mean `users`?',
    'gateway.yaml:9:45: binds[0].listeners[0].routes[0].backends[1].host: found "x", expected `host:port`, `[ipv6]:port` or `unix:/path`',
    'gateway.yaml:12:13: backends[0].static.host: found `host` without `port`, expected `port`, or `policies.tls`, which makes it 443',
  ])
})

test('broken YAML and duplicate keys have places', () => {
  assert.match(problemLines('binds: [\n')[0]!, /^gateway\.yaml:2:1: found broken YAML/)
  const twice = 'expected each key once'
  assert.deepEqual(problemLines('config: {}\nbinds: []\nconfig: {}\n'), [
    `gateway.yaml:3:1: found the key \`config\` twice in one mapping, ${twice}`,
  ])
  assert.deepEqual(problemLines('config: { workers: 1, "workers": 2 }\n'), [
    `gateway.yaml:1:23: found the key \`"workers"\` twice in one mapping, ${twice}`,
  ])
  assert.deepEqual(problemLines('binds: []\n---\nbinds: []\n'), [
    'gateway.yaml:2:1: found a second YAML document, expected one, without `---` between its parts',
  ])
})

test('aliases of anchors that are not there are told where they stand', () => {
  assert.deepEqual(problemLines('config:\n  workers: *some\nfrontend: { http: &some {} }\nbackends: *none\n'), [
    'gateway.yaml:2:12: found the alias `*some` without an anchor before it, expected `&some` above',
    'gateway.yaml:4:11: found the alias `*none` without an anchor before it, expected `&none` above',
  ])
  assert.ok(loaded('backends: &none []\npolicies: *none\n').ok)
})

test('a variable that is not closed is told, whatever its value would be', () => {
  for (const [text, start] of [
    ['${X', '${X'],
    ['a${X:-b', '${X'],
    ['${X-default}', '${X'],
  ] as const) {
    assert.deepEqual(problemLines(`config:\n  logging: { level: "${text}" }\n`, { X: 'info' }), [
      `gateway.yaml:2:21: found \`${start}\`, which is not a complete variable, expected \`\${NAME}\` or \`\${NAME:-default}\`\n    write \`$\${\` for a literal \`\${\``,
    ])
  }
  const body = (text: string) =>
    loaded(
      `binds: [{ port: 0, listeners: [{ routes: [{ policies: { directResponse: { status: 200, body: '${text}' } } }] }] }]`,
    )
  const bodies = ['$${X', '${', '${1}', '$X'].map(
    (text) => body(text).ir.policies.find(({ traffic }) => traffic?.directResponse)?.traffic?.directResponse?.body,
  )
  assert.deepEqual(bodies, ['${X', '${', '${1}', '$X'])
})

test('a file without a byte is refused, one without `binds` is warned of', () => {
  for (const empty of ['', ' \n\n']) {
    assert.deepEqual(problemLines(empty), ['gateway.yaml:1:1: found an empty file, expected a config with `binds`'])
  }
  for (const text of ['# nothing\n', 'config: {}\n', 'binds: []\n']) {
    const { ir, process, warnings } = loaded(text)
    assert.deepEqual([ir.binds, process.adminAddr], [[], 'localhost:15000'])
    assert.match(printProblems(warnings), /^gateway\.yaml:1:\d: .*found no `binds`, expected at least one port/)
  }
})

test('a key that is written wrongly is one mistake', () => {
  const mistakes = [
    'binds:\n- prot: 1\n  listeners: [{}]',
    'binds:\n- port: 1\n  listners: [{}]',
    'binds:\n- port: 1\n  listeners: [{ protocol: HTTPSS, tls: { cert: tls.crt, key: tls.key } }]',
    'backends:\n- name: a\n  static: { hots: a, port: 1 }',
    'backends:\n- name: a\n  statc: { host: a, port: 1 }',
    'backends:\n- nmae: a\n  static: { host: a, port: 1 }\n' + listener('routes: [{ backends: [{ backend: a }] }]'),
    listener('routes: [{ backends: [{ hots: "a:1" }] }]'),
    listener('routes: [{ policies: { rateLimit: { local: [{ request: 1, unit: Seconds }] } } }]'),
    listener('routes: [{ policies: { basicAuthentication: { usres: [] } } }]'),
    'policies:\n- name: a\n  targetRef: [{ kind: Gateway, name: default }]\n  traffic: {}',
    'policies:\n- name: a\n  targetRefs: [{ kind: Gatewy, name: default }]\n  traffic: {}',
  ]
  for (const mistake of mistakes) {
    const lines = problemLines(mistake)
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(lines[0]!, /did you mean/)
  }
})

test('a hundred of many problems are shown, with their number', () => {
  const problems = Array.from({ length: 250 }, (_, index) => `problem ${index}`)
  const shown = firstProblems(problems)
  assert.deepEqual(
    [shown.length, shown[99], shown[100]],
    [101, 'problem 99', '250 problems in all; the first 100 are shown'],
  )
  assert.deepEqual(firstProblems(problems.slice(0, 100)), problems.slice(0, 100))
})

const listener = (rest: string): string => `binds:\n- port: 1\n  listeners:\n  - ${rest}\n`
const conflicts: [string, string, RegExp][] = [
  ['HTTPS without tls', listener('{ protocol: HTTPS }'), /found HTTPS without `tls`/],
  [
    'tls on plain HTTP',
    listener('{ tls: { cert: tls.crt, key: tls.key } }'),
    /found `tls` on a listener of HTTP.*\n.*protocol: HTTPS/,
  ],
  [
    'TLS and plaintext on one port',
    listener('{ protocol: TLS, hostname: a.b }\n  - { hostname: c.d }'),
    /found listeners of TLS and HTTP on one port/,
  ],
  [
    'two listeners on a TCP port',
    listener('{ protocol: TCP }\n  - { protocol: HTTP, hostname: a.b }'),
    /a TCP listener alone/,
  ],
  [
    'two UDP listeners on one port',
    listener('{ protocol: UDP }\n  - { protocol: UDP, name: other }'),
    /found 2 UDP listeners on one port/,
  ],
  ['a hostname on UDP', listener('{ protocol: UDP, hostname: a.b }'), /found `hostname` on a UDP listener/],
  [
    'a UDP port twice',
    'binds:\n- { port: 1, listeners: [{}] }\n- { port: 1, listeners: [{ protocol: UDP }] }\n- { port: 1, listeners: [{ protocol: UDP }] }',
    /:4:5: binds\[2\]\.port: found port `1` a second time/,
  ],
  [
    'TLS to a backend of UDP',
    listener('{ protocol: UDP, routes: [{ backends: [{ host: "a:1", policies: { tls: {} } }] }] }'),
    /found `tls` on a UDP listener, expected `health` only/,
  ],
  [
    'TLS to a backend of UDP, by name',
    `backends: [{ name: x, static: { host: a, port: 1 }, policies: { tls: {} } }]\n${listener('{ protocol: UDP, routes: [{ backends: [{ backend: x }] }] }')}`,
    /found a backend with `tls` on a UDP listener/,
  ],
  [
    'a socket file behind UDP',
    `backends: [{ name: x, static: { unixPath: /run/x } }]\n${listener('{ protocol: UDP, routes: [{ backends: [{ backend: x }] }] }')}`,
    /found a socket file on a UDP listener/,
  ],
  [
    'traffic policies on UDP',
    listener('{ protocol: UDP, routes: [{ policies: { cors: {} }, backends: [{ host: "a:1" }] }] }'),
    /found `cors` on a UDP listener/,
  ],
  [
    'one port twice',
    'binds:\n- { port: 1, listeners: [{}] }\n- { port: 1, listeners: [{}] }',
    /:3:5: binds\[1\]\.port: found port `1` a second time/,
  ],
  ['one hostname twice', listener('{ hostname: a.b }\n  - { hostname: A.B }'), /hostname `a\.b` a second time/],
  ['two listeners of one name', listener('{ name: x, hostname: a.b }\n  - { name: x }'), /listener `x` a second time/],
  [
    'two routes of one name',
    listener('{ routes: [{ name: x, backends: [{ host: "a:1" }] }, { name: x, backends: [{ host: "a:1" }] }] }'),
    /route `x` a second time/,
  ],
  [
    'two backends of one name',
    'backends:\n- { name: x, static: { host: a, port: 1 } }\n- { name: x, static: { host: a, port: 1 } }',
    /backend `x` a second time/,
  ],
  [
    'an unknown mirror',
    listener('{ routes: [{ policies: { requestMirror: { backend: x } }, backends: [{ host: "a:1" }] }] }'),
    /no backend named `x`/,
  ],
  [
    'a prefix rewrite on an exact match',
    listener(
      '{ routes: [{ matches: [{ path: { exact: /a } }], policies: { urlRewrite: { path: { prefix: /b } } }, backends: [{ host: "a:1" }] }] }',
    ),
    /found `prefix` on a route with an exact/,
  ],
  [
    'matches on TCP',
    listener('{ protocol: TCP, routes: [{ matches: [{}], backends: [{ host: "a:1" }] }] }'),
    /found `matches` on a TCP listener/,
  ],
  [
    'hostnames on TCP',
    listener('{ protocol: TCP, routes: [{ hostnames: [a.b], backends: [{ host: "a:1" }] }] }'),
    /found `hostnames` on a TCP listener/,
  ],
  [
    'traffic policies on TLS',
    listener('{ protocol: TLS, routes: [{ policies: { cors: {} }, backends: [{ host: "a:1" }] }] }'),
    /found `cors` on a TLS listener/,
  ],
  [
    'backend.http on TLS',
    listener('{ protocol: TLS, routes: [{ policies: { backend: { http: {} } }, backends: [{ host: "a:1" }] }] }'),
    /found `http` on a TLS listener/,
  ],
  [
    'a backend that speaks HTTP behind a listener of bytes',
    listener('{ protocol: TLS, routes: [{ backends: [{ ai: { provider: { openai: {} } } }] }] }'),
    /found `ai` on a TLS listener/,
  ],
  [
    'a backend that speaks HTTP behind a listener of bytes, by name',
    `backends: [{ name: llm, ai: { provider: { openai: {} } } }]\n${listener('{ protocol: TCP, routes: [{ backends: [{ backend: llm }] }] }')}`,
    /found a backend of `ai` on a TCP listener/,
  ],
  ['a TCP route without backends', listener('{ protocol: TCP, routes: [{}] }'), /found a route without backends/],
  [
    'a forward proxy on TCP',
    `backends: [{ name: out, dynamicForwardProxy: {} }]\n${listener('{ protocol: TCP, routes: [{ backends: [{ backend: out }] }] }')}`,
    /found a dynamic forward proxy on a TCP listener/,
  ],
  [
    'versions in the wrong order',
    'frontend: { tls: { minProtocolVersion: 1.3, maxProtocolVersion: 1.2 } }',
    /found 1\.3 as the oldest/,
  ],
  ['filters of routes on a listener', listener('{ policies: { urlRewrite: {} } }'), /unknown key `urlRewrite`/],
]
for (const [name, text, expected] of conflicts) {
  test(`refused: ${name}`, () => {
    const lines = problemLines(text)
    assert.ok(
      lines.some((line) => expected.test(line)),
      lines.join('\n'),
    )
  })
}

test('certificate files are checked where they are named', () => {
  const tls = (value: string): string => problemLines(listener(`{ protocol: HTTPS, tls: ${value} }`)).join('\n')
  assert.match(
    tls('{ cert: missing.crt, key: tls.key }'),
    /:4:31: .*tls\.cert: found no readable file \/etc\/portico\/missing\.crt \(ENOENT\), expected a PEM file/,
  )
  assert.match(tls('{ cert: broken, key: tls.key }'), /tls\.cert: found no certificate in the file/)
  assert.match(tls('{ cert: tls.crt, key: broken }'), /tls\.key: found no usable key/)
  assert.match(
    tls('{ cert: tls.crt, key: other.key }'),
    /tls\.key: found a key of another certificate, expected the key of tls\.crt/,
  )
  assert.match(tls('{ cert: tls.crt, key: tls.key, root: broken }'), /tls\.root: found no certificate/)
  const result = load(listener('{ protocol: HTTPS, tls: { cert: missing.crt, key: tls.key } }'))
  assert.deepEqual(result.files, ['/etc/portico/missing.crt', '/etc/portico/tls.key'])
})

test('variables are filled into values, typed like plain YAML, and never add structure', () => {
  const text = `binds:
- port: \${PORT}
  listeners:
  - name: \${NAME:-web}
    routes:
    - policies: { directResponse: { status: 200, body: "\${BODY} $\${PORT}" } }
`
  const { ir } = loaded(text, { PORT: '8080', BODY: 'a: [b]\n- c' })
  assert.equal(ir.binds[0]?.port, 8080)
  assert.equal(ir.listeners[0]?.name, 'web')
  const policy = ir.policies.find((attached) => attached.target.kind === 'rule')
  assert.equal(policy?.traffic?.directResponse?.body, 'a: [b]\n- c ${PORT}')
  assert.deepEqual(problemLines(text, { PORT: '1' }), [
    'gateway.yaml:6:56: found `${BODY}`, but the variable is not set, expected an environment variable\n    set BODY, or give a default: `${BODY:-value}`',
  ])
  assert.equal(problemLines(text, { BODY: 'x' }).length, 1)
  assert.match(problemLines(text, { PORT: '{ a: 1 }', BODY: 'x' })[0]!, /:2:9: binds\[0\]\.port: found "\{ a: 1 \}"/)
})

test('a route that can only fail is a warning', () => {
  const { warnings } = loaded(listener('{ routes: [{ name: a }, { backends: [{ host: "a:1", weight: 0 }] }] }'))
  assert.deepEqual(warnings.map(printProblem), [
    'gateway.yaml:4:16: binds[0].listeners[0].routes[0]: found a route without backends, expected a backend, `directResponse` or `requestRedirect`; every request gets 500',
    'gateway.yaml:4:29: binds[0].listeners[0].routes[1]: found a route whose backends all have weight 0, expected a backend, `directResponse` or `requestRedirect`; every request gets 500',
  ])
})

test('several binds may take any free port', () => {
  const { ir } = loaded('binds:\n- { port: 0, listeners: [{}] }\n- { port: 0, listeners: [{}] }')
  assert.deepEqual(
    ir.binds.map((bind) => bind.key),
    ['bind/0', 'bind/0~1'],
  )
})

test('aliases are followed, and their problems are placed', () => {
  const { ir } = loaded(`binds:
- port: 1
  listeners:
  - routes:
    - { name: a, backends: &all [{ host: "a:1" }] }
    - { name: b, backends: *all }
`)
  assert.equal(ir.routes[1]?.backends.length, 1)
})

test('ten thousand routes load in well under two seconds', () => {
  const route = (index: number): string => `    - name: r${index}
      matches: [{ path: { pathPrefix: /svc/${index} } }]
      policies:
        timeouts: { request: 3s }
      backends:
      - host: 127.0.0.1:9000
`
  const text = `binds:\n- port: 8080\n  listeners:\n  - routes:\n${Array.from({ length: 10_000 }, (_, index) => route(index)).join('')}`
  const start = process.cpuUsage()
  assert.equal(loaded(text).ir.routes.length, 10_000)
  // Time of the processor, so that a busy machine does not count; a quiet one takes about half a second.
  const { user, system } = process.cpuUsage(start)
  assert.ok(user + system < 2_000_000, `${user + system} µs`)
})

test('a certificate to show may stand in a list of one, as in custom resources', () => {
  const backend = (ref: string) =>
    `backends: [{ name: a, static: { host: a, port: 1 }, policies: { tls: { mtlsCertificateRef: ${ref} } } }]`
  const [one, listed] = ['{ cert: tls.crt, key: tls.key }', '[{ cert: tls.crt, key: tls.key }]'].map((ref) =>
    loaded(backend(ref)),
  )
  assert.deepEqual(listed!.ir, one!.ir)
  assert.deepEqual(listed!.files, one!.files)
  const [missing] = problemLines(backend('[{ cert: missing.crt, key: tls.key }]'))
  assert.match(
    missing!,
    /^gateway\.yaml:1:95: backends\[0\]\.policies\.tls\.mtlsCertificateRef\.cert: found no readable file/,
  )
  for (const wrong of ['[]', '[{ cert: tls.crt, key: tls.key }, { cert: tls.crt, key: tls.key }]', '[[{}]]']) {
    assert.match(problemLines(backend(wrong)).join('\n'), /mtlsCertificateRef/)
  }
})

test('a fixed destination that speaks TLS needs no port', () => {
  const backend = (rest: string) => `backends: [{ name: a, static: { ${rest} } }]`
  assert.deepEqual(loaded(backend('host: a }, policies: { tls: {} ')).ir.backends[0]?.target, {
    kind: 'static',
    host: 'a',
    port: 443,
  })
  assert.deepEqual(loaded(backend('host: a, port: 8443 }, policies: { tls: {} ')).ir.backends[0]?.target, {
    kind: 'static',
    host: 'a',
    port: 8443,
  })
  assert.match(problemLines(backend('host: a }, policies: { http: {} ')).join(), /found `host` without `port`/)
  assert.match(problemLines(backend('port: 1')).join(), /exactly one of `host` or `unixPath`/)
})

test('a server name is written in lower case', () => {
  const sni = (name: string) =>
    `backends: [{ name: a, static: { host: a, port: 1 }, policies: { tls: { sni: ${name} } } }]`
  assert.ok(loaded(sni('api.example.com')).ok)
  for (const wrong of ['API.example.com', '-a.example', 'a-.example', '"*.example.com"', 'a..b', '127.0.0.1x_']) {
    assert.match(problemLines(sni(wrong)).join(), /tls\.sni: found .*, expected a hostname in lower case/)
  }
})

test('limits are as large as custom resources have them', () => {
  const limit = (requests: number) =>
    listener(
      `routes: [{ policies: { rateLimit: { local: [{ requests: ${requests}, burst: ${requests}, unit: Hours }] } } }]`,
    )
  assert.deepEqual(checkCompile(loaded(limit(2_147_483_647)).ir), [])
  assert.match(problemLines(limit(2_147_483_648)).join(), /expected an integer from 1 to 2147483647/)
})

test('a guard of answers that says `Reject` gets a warning, for it masks; one of requests gets none', () => {
  const guards = (request: string, response: string): string =>
    `backends: [{ name: m, ai: { provider: { openai: {} } }, policies: { ai: { promptGuard: { request: [{ regex: ${request} }], response: [{ regex: ${response} }] } } } }]\n${listener('{ routes: [{ backends: [{ backend: m }] }] }')}`
  const mask = '{ builtins: [Ssn], action: Mask }'
  const { warnings } = loaded(guards('{ builtins: [Ssn], action: Reject }', '{ builtins: [Ssn], action: reject }'))
  assert.equal(warnings.length, 1)
  assert.match(
    printProblem(warnings[0] ?? assert.fail()),
    /response\[0\]\.regex\.action: found `Reject`, which does nothing here, expected `Mask`: answers are masked/,
  )
  for (const response of [mask, '{ builtins: [Ssn] }']) assert.deepEqual(loaded(guards(mask, response)).warnings, [])
})
