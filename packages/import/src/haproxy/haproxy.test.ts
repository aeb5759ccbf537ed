import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { printImport } from '../core/print-import.ts'
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
