import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { eventFrom, eventsOf, messageEvent } from '../testing/events.ts'
import { parseEvent } from './event.ts'
import { plainLine, rawLine } from './lines.ts'
import { summarize } from './summary.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

test('every event of a plain request has its summary', () => {
  assert.deepEqual(
    eventsOf().map((event) => summarize(eventFrom(event))),
    [
      'request started',
      'initial request: GET api.example.com /api/users',
      'gateway policies: GET api.example.com /api/users',
      'selected "api" (2 evaluated)',
      'effective policies: cors, urlRewrite',
      'cors: skipped (no origin header)',
      'route policies: GET api.example.com /users',
      'final request: GET api.example.com /users',
      'calling 127.0.0.1:9000',
      'status=200',
      'backend response ready: status=200',
      'final response: status=200',
      'request finished',
    ],
  )
})

test('other outcomes of a request have their summaries', () => {
  const cases: [object, string][] = [
    [{ type: 'routeSelection', selectedRoute: null, evaluatedRoutes: ['a'] }, 'no route matched (1 evaluated)'],
    [
      {
        type: 'routeSelection',
        selectedRoute: null,
        evaluatedRoutes: ['a'],
        rejectedRoutes: [{ route: 'a', match: 0, lacks: ['method GET', 'header x-team'] }],
      },
      'no route matched (1 evaluated); "a" lacks method GET, header x-team',
    ],
    [{ type: 'policySelection', effectivePolicy: { cors: null, jwt: null } }, 'effective policies: none'],
    [{ type: 'policy', kind: 'jwt', result: { type: 'apply' } }, 'jwt: applied'],
    [{ type: 'policy', kind: 'cors', result: { type: 'skip' } }, 'cors: skipped'],
    [
      { type: 'policy', kind: 'localRateLimit', result: { type: 'stop', reason: 'limit 3 per 1m', status: 429 } },
      'localRateLimit: stopped (limit 3 per 1m, status=429)',
    ],
    [{ type: 'policy', kind: 'x', result: { type: 'stop', status: 403 } }, 'x: stopped (status=403)'],
    [{ type: 'policy', kind: 'x', result: { type: 'toString' } }, 'x: toString'],
    [{ type: 'backendCallResult', status: null, error: 'connection refused' }, 'status=none error=connection refused'],
    [{ type: 'requestFinished', status: 502, error: 'no backend' }, 'request finished error=no backend'],
    [
      {
        type: 'authorizationResult',
        rules: [
          { name: 'admins', mode: 'allow', matched: false },
          { name: 'blocked', mode: 'deny', matched: true },
          { name: 'odd', mode: 'require', matched: false, error: 'no such key' },
        ],
        result: 'deny',
      },
      'authorization: deny (3 rules; matched deny blocked; failed odd: no such key)',
    ],
    [{ type: 'dropped', count: 3 }, '3 events dropped: this client did not keep up'],
    [{ type: 'llmRouteResolved', provider: 'openai' }, '{"provider":"openai"}'],
    [{ type: 'constructor' }, '{}'],
  ]
  for (const [message, summary] of cases) assert.equal(summarize(messageEvent(message)), summary)
})

test('a callout has its scope', () => {
  const event = { eventEnd: 1, severity: 'info', scope: ['ext_authz', 'http'], message: { type: 'requestStarted' } }
  assert.equal(summarize(eventFrom(event)), '[ext_authz > http] request started')
})

test('arbitrary texts are rejected, or have a safe line', () => {
  for (const text of ['', 'x', 'null', '[]', '{}', '{"message":1}', '{"message":{}}', '{"message":{"type":1}}']) {
    assert.equal(parseEvent(text), null, text)
  }
  const type = fc.constantFrom('requestSnapshot', 'policy', 'policySelection', 'authorizationResult', 'routeSelection')
  const event = fc.record({ scope: fc.jsonValue(), severity: fc.jsonValue(), message: fc.jsonValue() })
  fc.assert(
    fc.property(event, type, fc.string({ unit: anyCharacter }), (value, type, noise) => {
      const message = { kind: noise, stage: noise, ...(value.message as object), type, requestState: value.message }
      const parsed = parseEvent(JSON.stringify({ ...value, message }))
      assert.ok(parsed !== null)
      assert.doesNotMatch(plainLine(1, parsed), /\p{Cc}/u)
      assert.deepEqual(JSON.parse(rawLine(parsed, true)), parsed.value)
    }),
  )
})

test('raw lines are the received text on one line', () => {
  const spaced = '{ "eventEnd": 1,  "message": {"type":"x", "a":"\u009b1m"} }'
  assert.equal(rawLine(parseEvent(spaced)!, false), spaced)
  assert.equal(rawLine(parseEvent(spaced)!, true), spaced.replace('\u009b', '\\u009b'))
  assert.equal(rawLine(parseEvent('{"message":\n{"type":"x"}}')!, false), '{"message":{"type":"x"}}')
})
