import type { OriginHandler } from '../../../testing/origin.ts'

interface FailureShape {
  /** How the guard service fails. */
  answer: OriginHandler
  /** The reason in the trace. */
  reason: RegExp
}

const json = { 'content-type': 'application/json' }
const status =
  (code: number): OriginHandler =>
  (_seen, response) => {
    response.writeHead(code, json).end('{"error":"of the vendor"}')
  }
const body =
  (text: string): OriginHandler =>
  (_seen, response) => {
    response.writeHead(200, json).end(text)
  }

/** The ways in which any guard service can fail; a refused connection and a wrong verdict are up to the test. */
export const failureShapes: Readonly<Record<string, FailureShape>> = {
  '401': { answer: status(401), reason: /^the response has status 401$/ },
  '429': { answer: status(429), reason: /^the response has status 429$/ },
  '500': { answer: status(500), reason: /^the response has status 500$/ },
  'a redirect': {
    answer: (_seen, response) => {
      response.writeHead(307, { location: '/elsewhere' }).end()
    },
    reason: /^the response has status 307$/,
  },
  'no JSON': { answer: body('<html>oops</html>'), reason: /^the answer is not JSON$/ },
  'half a JSON': { answer: body('{"flagged": fal'), reason: /^the answer is not JSON$/ },
  'an empty body': { answer: body(''), reason: /^the answer is not JSON$/ },
  'a missing member': {
    answer: body('{}'),
    reason: /^`(reject|mask)` failed: (no_such_key|no_such_overload|bad_value)$/,
  },
  'another type': { answer: body('"fine"'), reason: /^`(reject|mask)` (failed: |is neither|gives no masks)/ },
  'a huge body': {
    answer: body(`{"x":"${'x'.repeat(2_000_000)}"}`),
    reason: /^the response is (compressed or )?too long$/,
  },
  'half a body': {
    answer: (_seen, response) => {
      response.writeHead(200, { ...json, 'content-length': 100 }).write('{"flagged":false')
      setImmediate(() => response.destroy())
    },
    reason: /./,
  },
  'a reset': { answer: (_seen, response) => response.destroy(), reason: /./ },
  silence: { answer: () => {}, reason: /^no complete response in time$/ },
}
