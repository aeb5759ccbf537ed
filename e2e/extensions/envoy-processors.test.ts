import { describe, it } from 'node:test'
import {
  agree,
  answerTo,
  bodyOf,
  headers,
  immediate,
  type Process,
} from '../../packages/gateway/src/testing/processor.ts'
import type { ProcessingRequest } from '../../packages/gateway/src/wire/protos/envoy/service/ext_proc/v3/external_processor.ts'
import { ofProcessors, useProcessorSides } from './processor-sides.ts'
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
}

const byPath = (path: string, message: ProcessingRequest): ReturnType<Process> => {
  const part = message.request
  const asked = part?.$case
  // Envoy fails where the length that was announced is not the one of the new body.
  if (path === '/bodies' && (asked === 'requestHeaders' || asked === 'responseHeaders'))
    return answerTo(asked, headers({}, ['content-length']))
  if (asked === 'requestHeaders') {
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
    why: 'Processors do not change how a message is framed.',
  },
]

const ofBodies: readonly Difference[] = [
  {
    what: /^(backend|client) headers (content-length|transfer-encoding)$/,
    requests: ['a body in chunks', 'other bodies'],
    why: 'The body was read whole for the processor, so its length is known.',
  },
]

for (const mode of ['None', 'Buffered'] as const) {
  describe(`Envoy beside the gateway, with a processor (${mode})`, { skip }, () => {
    it('the processor, the client and the backend see the same but for what is listed', async (t) => {
      const sides = await useProcessorSides(t, mode, byPath)
      await compare(sides, requests, [...ofProcessors, ...(mode === 'None' ? ofHeads : ofBodies)])
    })
  })
}
