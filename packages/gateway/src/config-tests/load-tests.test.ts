import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printProblem } from '../sources/print-problems.ts'
import { readTests } from './load-tests.ts'

function problemsOf(text: string): string[] {
  const loaded = readTests(text, 'a.test.yaml')
  return loaded.ok ? [] : loaded.problems.map(printProblem)
}

const whole = (part: string): string => `config: a.yaml\ntests:\n- name: one\n${part}`

const mistakes: [name: string, text: string, problem: RegExp][] = [
  [
    'an unknown key',
    'config: a\nwrld: {}\ntests: []',
    /^a\.test\.yaml:2:1: wrld: unknown key[^]*did you mean `world`\?/,
  ],
  ['no tests', 'config: a', /tests/],
  ['no YAML', 'config: [', /^a\.test\.yaml:\d+:\d+:/],
  ['an empty file', '', /config/],
  [
    'an unknown key in a request',
    whole('  send: { pth: /x }\n  expect: {}'),
    /4:11: tests\[0\]\.send\.pth: unknown key[^]*did you mean `path`\?/,
  ],
  [
    'an unknown key in an outcome',
    whole('  send: GET /x\n  expect: { statuss: 1 }'),
    /5:13: tests\[0\]\.expect\.statuss[^]*did you mean `status`\?/,
  ],
  [
    'an unknown key of the upstream',
    whole('  send: GET /x\n  expect: { upstream: { pat: 1 } }'),
    /tests\[0\]\.expect\.upstream\.pat[^]*did you mean `path`\?/,
  ],
  [
    'an unknown key of a response',
    `config: a\nworld: { upstreams: { "a:1": { stats: 1 } } }\n${whole('  send: GET /\n  expect: {}').slice(15)}`,
    /2:32: world\.upstreams\[?"?a:1/,
  ],
  [
    'outcomes for other numbers of requests',
    whole('  send: GET /x\n  repeat: 6\n  expect: [{ times: 5 }]'),
    /outcomes are those of 5 requests, and `repeat` sends 6/,
  ],
  ['a method that is none', whole('  send: "G(T /x"\n  expect: {}'), /tests\[0\]\.send\.method/],
  ['neither request nor list', whole('  clock: 2026-01-31T12:00:00Z'), /exactly one of `send` or `requests`/i],
  [
    'a time that is none',
    whole('  clock: today\n  send: GET /\n  expect: {}'),
    /4:10: tests\[0\]\.clock: [^]*a time such as/,
  ],
  [
    'one name twice',
    `${whole('  send: GET /\n  expect: {}')}\n- name: one\n  send: GET /\n  expect: {}`,
    /6:9: tests\[1\]\.name/,
  ],
]

for (const [name, text, problem] of mistakes) {
  test(`${name} is a problem with its location`, () => {
    const problems = problemsOf(text)
    assert.ok(
      problems.some((each) => problem.test(each)),
      problems.join('\n') || 'there is no problem',
    )
  })
}

test('both forms of requests, outcomes and responses', () => {
  const text = `
config: a.yaml
world:
  clock: 2026-01-31T12:00:00Z
  upstreams: { "a:1": { body: "\${NOT_A_VARIABLE}" }, "b:1": [{ status: 500 }, {}] }
tests:
- name: one
  send: PUT /a?b=c
  expect: [{ times: 2, status: 200 }, { status: 500 }]
- name: other
  given: { jwt: { sub: ann } }
  upstreams: { "b:1": { status: 404 } }
  requests:
  - { after: 1m, send: { chat: hello }, repeat: 3, expect: { upstream: null } }
  - { given: { apiKey: alice }, send: /x, expect: { upstream: { path: /x } } }
`
  const loaded = readTests(text, 'a.test.yaml')
  assert.ok(loaded.ok, loaded.ok ? '' : loaded.problems.map(printProblem).join('\n'))
  const [one, other] = loaded.value.tests
  assert.deepEqual([one?.clock, one?.steps[0]?.repeat], [Date.parse('2026-01-31T12:00:00Z'), 3])
  assert.deepEqual([one?.steps[0]?.request.method, one?.steps[0]?.request.path], ['PUT', '/a?b=c'])
  // Variables are not filled in.
  assert.equal(one?.upstreams['a:1']?.[0]?.body, '${NOT_A_VARIABLE}')
  assert.deepEqual([one?.upstreams['b:1']?.length, other?.upstreams['b:1']?.[0]?.status], [2, 404])
  assert.deepEqual([other?.steps[0]?.afterMs, other?.steps[0]?.repeat], [60_000, 3])
  assert.equal(other?.steps[0]?.outcomes[0]?.upstream, null)
  assert.deepEqual(
    other?.steps.map(({ given }) => given),
    [{ jwt: { sub: 'ann' } }, { apiKey: 'alice' }],
  )
})
