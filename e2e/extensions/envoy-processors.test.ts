import { describe, it } from 'node:test'
import {
  agree,
  answerTo,
  bodyOf,
  edits,
  headers,
  immediate,
  type Process,
} from '../../packages/gateway/src/testing/services/processor.ts'
import { bytesOption } from '../../packages/gateway/src/testing/services/authorizer.ts'
import type { ProcessingRequest } from '../../packages/gateway/src/protos/envoy/service/ext_proc/v3/external_processor.ts'
import { ofFailures, ofNewBodies, ofProcessors, useProcessorSides } from './processor-sides.ts'
import { withoutEnvoy as skip } from './servers.ts'
import { compare, type Difference, type Parts } from './side-by-side.ts'

/** The same requests to both, one processor and one backend behind them. */
const requests: Record<string, Parts> = {
  'a plain one': {},
  'path with query': { line: 'GET /a/b?x=1&y=%20z' },
  HEAD: { line: 'HEAD /' },
  'a body': { line: 'POST /', body: 'hello' },
  'a body in chunks': { line: 'POST /', headers: ['transfer-encoding: chunked'], body: '5\r\nhello\r\n0\r\n\r\n' },
  'lines of one name': { headers: ['x-a: 1', 'x-a: 2'] },
  'a value beyond ASCII': { headers: ['x-name: Zoë'] },
  'other headers': { line: 'GET /edited', headers: ['x-user: mallory', 'x-secret: s'] },
  'another path': { line: 'GET /moved' },
  'another status': { line: 'GET /status' },
  'other bodies': { line: 'POST /bodies', body: 'question' },
  'answered at once': { line: 'GET /denied' },
  'answered at its body': { line: 'POST /refused', body: 'question' },
  'answered in place of the answer': { line: 'GET /hidden' },
  'a header of bytes that are no UTF-8': { line: 'GET /bytes' },
  'two lines of one name': { line: 'GET /lines', headers: ['x-group: z'] },
  'two cookies for the client': { line: 'GET /cookies' },
  'a header set and removed': { line: 'GET /both', headers: ['x-user: mallory'] },
  'a body that is replaced at its head': { line: 'POST /replaced', body: 'question' },
  'a body that is given to a request without one': { line: 'POST /replaced', headers: ['content-length: 0'] },
  'a body that is replaced by none': { line: 'POST /dropped', body: 'question' },
  'an answer that is replaced at its head': { line: 'GET /answer/replaced' },
  'an answer that is replaced by none': { line: 'GET /answer/dropped' },
  'the processor fails at the head': { line: 'GET /fails/requestHeaders' },
  'the processor fails at the body': { line: 'POST /fails/requestBody', body: 'question' },
  'the processor fails at the head of the answer': { line: 'GET /fails/responseHeaders' },
  'the processor fails at the body of the answer': { line: 'GET /fails/responseBody' },
}

/** Envoy reads `raw_value` alone. */
const raw = (name: string, value: string): object => bytesOption(name, [...Buffer.from(value)])

const byPath = (path: string, message: ProcessingRequest): ReturnType<Process> => {
  const part = message.request
  const asked = part?.$case
  // Envoy fails where the length that was announced is not the one of the new body.
  if (path === '/bodies' && (asked === 'requestHeaders' || asked === 'responseHeaders'))
    return answerTo(asked, headers({}, ['content-length']))
  if (asked !== undefined && path === `/fails/${asked}`) throw new Error('broken')
  if (asked === 'requestHeaders') {
    if (path === '/bytes') return answerTo(asked, edits(bytesOption('x-name', [0x5a, 0xe9])))
    if (path === '/lines') return answerTo(asked, edits(raw('x-group', 'a'), raw('x-group', 'b')))
    if (path === '/both')
      return answerTo(asked, {
        headerMutation: { ...edits(raw('x-user', 'ann')).headerMutation, removeHeaders: ['x-user'] },
      })
    if (path === '/replaced') return answerTo(asked, { status: 1, ...bodyOf('another question') })
    if (path === '/dropped') return answerTo(asked, { status: 1 })
    if (path === '/denied') return immediate(403, 'not you', { 'x-why': 'tired' })
    if (path === '/moved') return answerTo(asked, headers({ ':path': '/elsewhere?b=2' }))
    if (path === '/edited')
      return answerTo(asked, headers({ 'x-user': 'ann', ':method': 'DELETE', host: 'evil.example' }, ['x-secret']))
  }
  if (asked === 'requestBody') {
    if (path === '/refused') return immediate(422, 'no')
    return answerTo(asked, path === '/bodies' ? bodyOf('a longer question') : {})
  }
  if (asked === 'responseHeaders') {
    if (path === '/bytes') return answerTo(asked, edits(bytesOption('x-name', [0x5a, 0xe9])))
    if (path === '/cookies') return answerTo(asked, edits(raw('set-cookie', 'a=1'), raw('set-cookie', 'b=2')))
    if (path === '/answer/replaced') return answerTo(asked, { status: 1, ...bodyOf('another answer') })
    if (path === '/answer/dropped') return answerTo(asked, { status: 1 })
    if (path === '/hidden') return immediate(451, 'hidden')
    if (path === '/status') return answerTo(asked, headers({ ':status': '201', 'x-new': 'n' }))
  }
  if (asked === 'responseBody') return answerTo(asked, path === '/bodies' ? bodyOf('short') : {})
  return agree(message)
}

const ofHeads: readonly Difference[] = [
  {
    what: /^(backend|client) headers (content-length|transfer-encoding)$/,
    requests: ['other bodies'],
    why: 'In the gateway, a processor does not change the framing of a message.',
  },
  ofNewBodies,
  { ...ofFailures, requests: ['the processor fails at the head', 'the processor fails at the head of the answer'] },
]

const ofBodies: readonly Difference[] = [
  {
    what: /^(backend|client) headers (content-length|transfer-encoding)$/,
    requests: ['a body in chunks', 'other bodies'],
    why: 'The gateway buffered the body for the processor, so its length is known.',
  },
  ofNewBodies,
  ofFailures,
]

for (const mode of ['None', 'Buffered'] as const) {
  describe(`Envoy beside the gateway, with a processor (${mode})`, { skip }, () => {
    it('the processor, the client and the backend see the same but for what is listed', async (t) => {
      const sides = await useProcessorSides(t, mode, byPath)
      await compare(t, mode === 'None' ? 'processor of headers' : 'processor of whole bodies', sides, requests, [
        ...ofProcessors,
        ...(mode === 'None' ? ofHeads : ofBodies),
      ])
    })
  })
}
