import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { printImport } from '../core/print-import.ts'
import { SourceError } from '../core/source.ts'
import { importCaddy } from './import-caddy.ts'
import { parseCaddyfile } from './parse.ts'
import { tokensOf } from './tokens.ts'

const words = (text: string) => tokensOf({ name: 'a', text }).map((token) => token.text)
const importText = (text: string, files: Readonly<Record<string, string>> = {}) =>
  importCaddy([{ name: 'Caddyfile', text }], (pattern) => {
    const found = files[pattern]
    return found === undefined ? 'there is no such file' : [{ name: pattern, text: found }]
  })

test('words, quotes, backticks, texts of several lines and comments are read as Caddy reads them', () => {
  assert.deepEqual(words('a "b \\" c" `d " e` f#g # h\n"i\nj"k \\\n l\\m'), [
    'a',
    'b " c',
    'd " e',
    'f#g',
    'i\nj',
    'k',
    'l\\m',
  ])
  assert.deepEqual(words('respond <<HTML\n\t<b>\n\t\t#x\n\tHTML 200\nnext'), ['respond', '<b>\n\t#x', '200', 'next'])
  assert.deepEqual(
    tokensOf({ name: 'a', text: 'one two \\\n three\nfour' }).map(({ line }) => line),
    [1, 1, 1, 3],
  )
})

test('broken texts are problems with a location', () => {
  const cases: [string, RegExp][] = [
    ['a.test {\n respond 200', /found { without its }/],
    ['a.test {\n}\n}', /found } without its {/],
    ['a.test {\n respond "x\n}', /found a quoted text without its end/],
    ['', /found no site that can be imported/],
    ['(a) {\n import a\n}\na.test {\n import a\n}', /imports that import themselves/],
    ['respond <<END\nx', /found no end of the text <<END/],
  ]
  for (const [text, said] of cases) {
    const result = importText(text)
    assert.ok(!result.ok, text)
    assert.match(result.problem.message, said)
    assert.ok(result.problem.at.line >= 1 && result.problem.at.column >= 1)
  }
})

test('snippets, files and their arguments stand in place of import', () => {
  const text = '(to) {\n reverse_proxy {args[0]}\n}\nhttp://a.test {\n import to 1.2.3.4:80\n}\nimport more\n'
  const result = importText(text, { more: 'http://b.test {\n import to 5.6.7.8:80\n}\n' })
  assert.ok(result.ok)
  const { report, behavior } = result.value
  assert.deepEqual(
    behavior.tests.map(({ expect }) => (expect as { upstream: { address: string } | null }).upstream?.address),
    ['1.2.3.4:80', '5.6.7.8:80', undefined],
  )
  const lines = report.map(({ at, verdict }) => `${at.file}:${at.line} ${verdict}`)
  for (const line of ['Caddyfile:2 carried', 'Caddyfile:7 carried', 'more:2 carried'])
    assert.ok(lines.includes(line), line)
})

test('sites with certificates redirect from the port of HTTP', () => {
  const result = importText(
    'a.test, b.test:8443 {\n tls /c.pem /k.pem\n reverse_proxy 1.2.3.4:80\n}\nhttp://c.test {\n respond 200\n}',
  )
  assert.ok(result.ok)
  const { binds } = result.value.config as {
    binds: { port: number; listeners: { hostname?: string; routes: { hostnames?: string[]; policies: object }[] }[] }[]
  }
  assert.deepEqual(
    binds.map(({ port, listeners }) => [port, listeners.map(({ hostname }) => hostname)]),
    [
      [443, ['a.test']],
      [8443, ['b.test']],
      [80, [undefined]],
    ],
  )
  const [, , plain] = binds
  assert.deepEqual(
    plain?.listeners[0]?.routes.slice(0, 3).map(({ hostnames, policies }) => [hostnames, policies]),
    [
      [['c.test'], { directResponse: { status: 200 } }],
      [['a.test'], { requestRedirect: { scheme: 'https', status: 308 } }],
      [['b.test'], { requestRedirect: { scheme: 'https', authority: { port: 8443 }, status: 308 } }],
    ],
  )
})

const lines = fc.constantFrom(
  ...[
    'reverse_proxy localhost:9000',
    'reverse_proxy /a/* h2c://x:80 y:81',
    'reverse_proxy {$UP} {',
    'reverse_proxy',
    'handle {',
    'handle /a* {',
    'handle_path /b/* {',
    'route @m {',
    '}',
    '}',
  ],
  ...[
    '@m path /x *.y',
    '@m not remote_ip 10.0.0.0/8',
    '@m {',
    '@m expression `x`',
    '@m header !A',
    '@m query a=b',
    '@m protocol https',
  ],
  ...[
    'respond @m 403',
    'respond "a {host}" 200',
    'respond 999',
    'abort @m',
    'error',
    'redir /a /b 302',
    'redir https://{host}{uri}',
    'redir /only',
    'redir @m https://x{path}?a',
  ],
  ...[
    'header A b',
    'header -A',
    'header ?A {$V}',
    'header {',
    'A b c',
    'request_header X-Token abc',
    'header_up Host {upstream_hostport}',
    'header_up X {header.Y}',
  ],
  ...[
    'rewrite /a /b?c',
    'rewrite * /b{uri}',
    'uri strip_prefix /a',
    'uri replace a b',
    'try_files {path} /x',
    'file_server',
    'php_fastcgi x:9000',
    'encode gzip',
  ],
  ...[
    'basicauth {',
    'basic_auth @m {',
    'ann $2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO',
    'bob x',
    'forward_auth x:1 {',
    'uri /v',
    'copy_headers A B',
  ],
  ...[
    'import s 1',
    'import nothing',
    'tls internal',
    'bind 127.0.0.1',
    'something new',
    'jwt_auth',
    'method GET',
    'invoke x',
    'transport http {',
    'tls_insecure_skip_verify',
    'lb_policy cookie c',
    'to z:1',
  ],
)

test('any text is imported, or refused with a location; every line is in the report, and the config has no problems', () => {
  const texts = fc.oneof(
    { weight: 1, arbitrary: fc.string() },
    {
      weight: 4,
      arbitrary: fc.array(lines, { maxLength: 40 }).map((list) => {
        let open = 1
        const kept = list.filter((line) => {
          if (line === '}') return open > 1 && open-- > 0
          if (line.endsWith('{')) open++
          return true
        })
        return `(s) {\n header X {args[0]}\n}\nhttp://a.test, :8080 {\n${kept.join('\n')}\n${'}\n'.repeat(open)}`
      }),
    },
  )
  fc.assert(
    fc.property(texts, (text) => {
      const result = importText(text)
      if (!result.ok) return assert.ok(result.problem.at.line >= 1 && result.problem.message !== '')
      const reported = new Set(result.value.report.map(({ at }) => at.line))
      for (const { at } of flat(parseCaddyfile({ name: 'a', text }, [])))
        assert.ok(reported.has(at.line), `line ${at.line}\n${text}`)
      const { config } = printImport(result.value, ['Caddyfile'], 'caddy')
      const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: result.value.behavior.env })
      const problems = loaded.ok
        ? []
        : loaded.problems.map(printProblem).filter((problem) => !/\.pem|\.key/.test(problem))
      assert.deepEqual(problems, [], `${text}\n${config}`)
    }),
    { numRuns: 150 },
  )
})

type Statements = ReturnType<typeof parseCaddyfile>

function flat(list: Statements): Statements {
  return list.flatMap((each) => [each, ...flat([...(each.block ?? [])])])
}

test('a header that is more than a route can change is in the report, and in no list', () => {
  const names = Array.from({ length: 17 }, (_, index) => `x-h${index}`)
  for (const lines of [
    [...names.map((name) => `header ${name} v`), 'reverse_proxy x:80'],
    ['reverse_proxy x:80 {', ...names.map((name) => `header_up ${name} v`), '}'],
  ]) {
    const result = importText(`http://a.test {\n${lines.join('\n')}\n}\n`)
    assert.ok(result.ok)
    const { report, config } = printImport(result.value, ['a'], 'caddy')
    assert.ok(config.includes('x-h14') && !config.includes('x-h15'), config)
    assert.equal(report.match(/a route can change at most 15 headers/g)?.length, 2, report)
  }
})

test('secrets are neither in the report nor in the config', () => {
  const text =
    'http://a.test {\n reverse_proxy x:80 {\n  header_up Authorization "Bearer s3cret"\n }\n header Set-Cookie s3cret\n basicauth {\n  ann s3cret\n }\n}\n'
  const result = importText(text)
  assert.ok(result.ok)
  assert.ok(!JSON.stringify([result.value.report, printImport(result.value, ['a'], 'caddy')]).includes('s3cret'))
})

test('a text that is too large is refused', () => {
  assert.throws(() => parseCaddyfile({ name: 'a', text: ' '.repeat(5 << 20) }, []), SourceError)
})

test('variables stand for parts of the host of a site, also in the form of placeholders', async () => {
  const result = importText(
    'http://api.{$DOMAIN} {\n reverse_proxy a:80\n}\nhttp://{env.SUB}.{$DOMAIN} {\n reverse_proxy b:80\n}\n{env.SITE} {\n tls one.pem one.key\n reverse_proxy c:80\n}',
  )
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const { config, tests } = printImport(result.value, ['Caddyfile'], 'caddy')
  for (const text of ['api.${DOMAIN}', '${SUB}.${DOMAIN}', 'hostname: ${SITE}']) assert.ok(config.includes(text), text)
  assert.ok(tests?.includes('host: sub.test.domain.test'))
  assert.deepEqual(result.value.behavior.env, { DOMAIN: 'domain.test', SUB: 'sub.test', SITE: 'site.test' })
})

test('the report names the files of a certificate and the address of a site as carried', () => {
  const result = importText('https://a.test {\n tls one.pem one.key\n bind 127.0.0.1\n reverse_proxy https://b.test\n}')
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  assert.deepEqual(
    result.value.report.map(({ verdict }) => verdict),
    ['carried', 'carried', 'carried', 'carried'],
  )
})

test('snippets stand in place of import within matchers and options too', () => {
  const result = importText(
    '(office) {\n remote_ip 10.0.0.0/8\n}\n(up) {\n header_up X-A b\n}\nhttp://a.test {\n @inside {\n  import office\n }\n handle @inside {\n  reverse_proxy a:80 {\n   import up\n  }\n }\n respond 403\n}',
  )
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  assert.deepEqual(
    result.value.report.filter(({ verdict }) => verdict !== 'carried'),
    [],
  )
  const { config } = printImport(result.value, ['Caddyfile'], 'caddy')
  assert.match(config, /deny: '!\(+cidr\("10\.0\.0\.0\/8"\)\.containsIP\(source\.address\)\)+'/)
  assert.match(config, /name: x-a, value: '"b"'/)
})

test('listeners have the routes that their requests reach, and no hosts of other listeners', () => {
  const site = (address: string, directive: string) => `${address} {\n tls a.pem a.key\n ${directive}\n}\n`
  const result = importText(
    `${site('https://a.test', 'respond 401')}${site('https://*.test', 'respond 402')}${site('https://', 'respond 403')}http://b.test {\n respond 404\n}\n:80 {\n respond 405\n}\n`,
  )
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const { binds } = parse(printImport(result.value, ['Caddyfile'], 'caddy').config) as {
    binds: readonly {
      listeners: readonly {
        hostname?: string
        routes: readonly { hostnames?: readonly string[]; policies: { directResponse?: { status: number } } }[]
      }[]
    }[]
  }
  assert.deepEqual(
    binds.flatMap(({ listeners }) =>
      listeners.map(({ hostname, routes }) => [
        hostname ?? null,
        routes.map(({ hostnames, policies }) => [hostnames ?? null, policies.directResponse?.status ?? 308]),
      ]),
    ),
    [
      ['a.test', [[['a.test'], 401]]],
      ['*.test', [[['*.test'], 402]]],
      [null, [[null, 403]]],
      [
        null,
        [
          [['b.test'], 404],
          [['a.test'], 308],
          [['*.test'], 308],
          [null, 405],
        ],
      ],
    ],
  )
})
