import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { printImport } from '../core/print-import.ts'
import { entryLine } from '../core/report.ts'
import { SourceError } from '../core/source.ts'
import { importHaproxy } from './import-haproxy.ts'
import { parseHaproxy, wordsOf } from './parse.ts'

const words = (line: string): string[] => wordsOf(line, (column, message) => new Error(`${column}: ${message}`))

test('words, quotes, escapes and comments are read as HAProxy reads them', () => {
  assert.deepEqual(words(String.raw`  acl a hdr(x) "b c" 'd \e' f\ g h# no`), [
    'acl',
    'a',
    'hdr(x)',
    'b c',
    String.raw`d \e`,
    'f g',
    'h',
  ])
  assert.deepEqual(words('log-format "%ci \\"x\\""'), ['log-format', '%ci "x"'])
  assert.throws(() => words('a "b'), /3: found a quoted text without its end/)
  assert.throws(() => words('a \\'), /backslash at the end/)
})

test('broken texts are problems with a location', () => {
  const cases: [string, RegExp][] = [
    ['\nbind :80', /^found "bind" before any section/],
    ['frontend', /^found a frontend without a name/],
    ['frontend a from b', /^found no defaults named b/],
    ['defaults\n  mode http\n', /^found no frontend that can be imported/],
    ['global\n  log "x', /^found a quoted text without its end/],
  ]
  for (const [text, said] of cases) {
    const result = importHaproxy([{ name: 'a.cfg', text }])
    assert.ok(!result.ok)
    assert.match(result.problem.message, said)
    assert.ok(result.problem.at.line >= 1 && result.problem.at.column >= 1)
  }
})

const pieces = fc.constantFrom(
  ...['frontend f', 'backend b', 'listen l', 'defaults', 'global', 'userlist u', 'peers p', 'mode http', 'mode tcp'],
  ...[
    'bind :80',
    'bind :443 ssl crt a.pem',
    'bind 1.2.3.4:1-5',
    'bind /a.sock',
    'default_backend b',
    'use_backend b if x',
    'use_backend c',
  ],
  ...[
    'acl x path_beg /a',
    'acl x src 10.0.0.0/8',
    'acl x hdr(host) -i a.test',
    'acl x nbsrv(b) lt 1',
    'acl y path_reg [',
    'acl',
  ],
  ...[
    'http-request deny if !x',
    'http-request deny unless y',
    'http-request set-header A "%[src] b" if x',
    'http-request redirect scheme https unless x',
  ],
  ...[
    'http-request auth unless { http_auth(u) }',
    'http-request return status 200 string "a"',
    'http-request',
    'http-response set-header A b',
    'http-request set-header Host a.test',
  ],
  ...[
    'redirect prefix https://a.test code 301 if x',
    'server a 1.2.3.4:80 check',
    'server a /a.sock',
    'server a host_name:80',
    'server a b.test:443 ssl',
    'server',
  ],
  ...[
    'balance source',
    'timeout server 1m',
    'timeout connect',
    'retries x',
    'retry-on 503',
    'cookie A insert',
    'user ann password $5$a$b',
    'user bob insecure-password x',
  ],
  ...[
    'stats auth a:b',
    'something new',
    '# only a comment',
    'monitor-uri /up',
    'http-response del-header connection',
    'http-request add-header te x',
  ],
)

const FIRST_LINES = ['defaults', 'mode http', 'frontend web', 'bind :8080', 'default_backend b']

test('any text is imported, or refused with a location; every line is in the report, and the config has no problems', () => {
  const texts = fc.oneof(
    { weight: 1, arbitrary: fc.string() },
    {
      weight: 4,
      arbitrary: fc.array(pieces, { maxLength: 40 }).map((lines) => [...FIRST_LINES, ...lines].join('\n')),
    },
  )
  fc.assert(
    fc.property(texts, (text) => {
      const result = importHaproxy([{ name: 'a.cfg', text }])
      if (!result.ok) return assert.ok(result.problem.at.line >= 1 && result.problem.message !== '')
      const lines = text.split('\n').filter((line) => words(line).length > 0)
      assert.equal(result.value.report.length, lines.length)
      const { config } = printImport(result.value, ['a.cfg'], 'haproxy')
      const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: {} })
      const problems = loaded.ok ? [] : loaded.problems.map(printProblem).filter((problem) => !/\.pem/.test(problem))
      assert.deepEqual(problems, [], `${text}\n${config}`)
    }),
    { numRuns: 150, examples: [[`${FIRST_LINES.join('\n')}\nhttp-request add-header te x`]] },
  )
})

test('secrets are not in the report', () => {
  const text =
    'defaults\nmode http\nlisten a\nbind :80\nstats auth ann:s3cret\nhttp-request set-header authorization s3cret\nserver a 1.2.3.4:80\nuserlist u\nuser ann insecure-password s3cret\n'
  const result = importHaproxy([{ name: 'a.cfg', text }])
  assert.ok(result.ok)
  assert.ok(!JSON.stringify(result.value.report).includes('s3cret'))
})

test('a text that is too large is refused', () => {
  assert.throws(() => parseHaproxy({ name: 'a.cfg', text: ' '.repeat(5 << 20) }), SourceError)
})

const outcomeOf = (...lines: readonly string[]) => {
  const result = importHaproxy([{ name: 'a.cfg', text: ['defaults', 'mode http', ...lines].join('\n') }])
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const { config, tests } = printImport(result.value, ['a.cfg'], 'haproxy')
  return { config, tests, lines: result.value.report.map(entryLine) }
}

test('the start of a path is replaced before a server is called, and other changes of the path get 501', () => {
  const site = (rule: string) =>
    outcomeOf('frontend web', 'bind :80', 'use_backend b if { path /a/x }', 'backend b', rule, 'server s 1.2.3.4:80')
  for (const [format, call, path] of [
    ['%[path,regsub(^/a/?,/)]', '"^/a/?", "/"', '/x'],
    ['%[path,regsub("^/a","")]', '"^/a/?", "/"', '/x'],
    ['%[path,regsub(^/A/,/b/c/,i)]', '"(?i)^/A/", "/b/c/"', '/b/c/x'],
  ] as const) {
    const { config, tests, lines } = site(`http-request set-path ${format}`)
    assert.ok(config.includes(`request.path.regexReplace(${call}) + request.pathAndQuery.substring`), config)
    assert.ok(lines.some((line) => /: carried: http-request set-path/.test(line)))
    assert.ok(tests?.includes(`path: ${path} }`), tests ?? '')
  }
  for (const format of ['%[path]/x', '%[path,regsub(a,b)]', '%[path,regsub(^/a,b)]', '%[path,regsub(^/[,/)]']) {
    const { config, lines } = site(`http-request set-path ${format}`)
    assert.match(config, /status: 501/)
    assert.ok(
      lines.some((line) =>
        line.includes('the importer does not read this change of the path; matching requests get 501'),
      ),
    )
  }
})

test('the mode of the defaults is carried, and lines of a used backend have notes of their own', () => {
  const { lines } = outcomeOf(
    ...['frontend web', 'mode http', 'bind :80', 'default_backend b', 'backend b', 'mode http'],
    ...['option http-server-close', 'server s 1.2.3.4:80', 'backend c', 'option http-server-close'],
  )
  assert.equal(
    lines.filter((line) => line.includes('mode http')).every((line) => line.includes(': carried: ')),
    true,
  )
  const notes = lines.filter((line) => line.includes('http-server-close'))
  assert.match(notes[0] ?? '', /the gateway keeps connections open$/)
  assert.match(notes[1] ?? '', /no frontend uses the backend of this line$/)
})

test('a limit of the response leaves time after connecting', () => {
  const site = (connect: string, server: string) =>
    outcomeOf(`timeout connect ${connect}`, `timeout server ${server}`, 'listen a', 'bind :80', 'server s 1.2.3.4:80')
  assert.match(site('5s', '50s').config, /requestTimeout: 50s }, tcp: { connectTimeout: 5s }/)
  assert.match(site('10s', '10s').config, /requestTimeout: 20s }, tcp: { connectTimeout: 10s }/)
})

test('a refusal names the first line that is in the way', () => {
  const result = importHaproxy([{ name: 'a.cfg', text: 'frontend web\nmode http\nbind *:$PORT\ndefault_backend b\n' }])
  assert.ok(!result.ok)
  assert.deepEqual([result.problem.at.line, result.problem.at.column], [3, 1])
  assert.match(
    result.problem.message,
    /^found no frontend that can be imported \(bind \*:\$PORT: .*\), expected frontend/,
  )
})
