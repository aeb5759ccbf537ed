import { describe, it } from 'node:test'
import type { OriginHandler } from '../../packages/gateway/src/testing/origin.ts'
import {
  agree,
  answerTo,
  bodyOf,
  headers,
  immediate,
  piece,
  type Process,
} from '../../packages/gateway/src/testing/services/processor.ts'
import type { ProcessingRequest } from '../../packages/gateway/src/protos/envoy/service/ext_proc/v3/external_processor.ts'
import { ofFailures, ofNewBodies, ofProcessors, useProcessorSides } from './processor-sides.ts'
import { withoutEnvoy as skip } from './servers.ts'
import { compare, type Difference, type Parts } from './side-by-side.ts'

const chunked = (line: string, body: string, more: string[] = []): Parts => ({
  line,
  headers: ['transfer-encoding: chunked', ...more],
  body,
})
const withTrailers = (line: string): Parts =>
  chunked(line, '5\r\nhello\r\n0\r\nx-sum: 42\r\nx-other: 1\r\n\r\n', ['trailer: x-sum, x-other'])

/** The same requests to both; bodies and trailers go through one processor piece by piece, both ways. */
const requests: Record<string, Parts> = {
  'a plain one': {},
  HEAD: { line: 'HEAD /' },
  'a body': { line: 'POST /', body: 'hello' },
  'an empty body': { line: 'POST /', headers: ['content-length: 0'] },
  'a body in chunks': chunked('POST /', '5\r\nhello\r\n2\r\n!!\r\n0\r\n\r\n'),
  'a long body': { line: 'POST /', body: 'x'.repeat(300_000) },
  'trailers of a request': withTrailers('POST /'),
  'trailers of an answer': { line: 'GET /trailing' },
  'trailers both ways': withTrailers('POST /trailing'),
  'trailers that are changed': withTrailers('POST /trailing/changed'),
  'an answer without a body': { line: 'GET /none' },
  'other bodies': { line: 'POST /shout', body: 'question' },
  'other headers': { line: 'POST /edited', headers: ['x-user: mallory', 'x-secret: s'], body: 'hello' },
  'a body that grows': { line: 'POST /grow', body: 'hello' },
  'a body that is swallowed': { line: 'POST /swallow', body: 'hello' },
  'answered at once': { line: 'POST /denied', body: 'hello' },
  'answered at its body': { line: 'POST /refused', body: 'question' },
  'answered at its trailers': withTrailers('POST /late'),
  'answered in place of the answer': { line: 'GET /hidden' },
  'a body that is replaced at its head': { line: 'POST /replaced', body: 'question' },
  'an answer that is replaced at its head': { line: 'GET /answer/replaced' },
  'answered at the first piece of the answer': { line: 'GET /hidden/piece' },
  'the processor fails at the head': { line: 'POST /fails/requestHeaders', body: 'question' },
  'the processor fails at the body': { line: 'POST /fails/requestBody', body: 'question' },
  'the processor fails at the head of the answer': { line: 'GET /fails/responseHeaders' },
  'the processor fails at the body of the answer': { line: 'GET /fails/responseBody' },
}

const answer: OriginHandler = ({ url }, response) => {
  if (url.startsWith('/none')) return void response.writeHead(204).end()
  if (!url.startsWith('/trailing')) return void response.end('from origin')
  response.writeHead(200, { trailer: 'x-check, x-more' })
  response.write('from ')
  response.addTrailers({ 'x-check': 'ok', 'x-more': '2' })
  response.end('origin')
}

const byPath = (path: string, message: ProcessingRequest): ReturnType<Process> => {
  const part = message.request
  if (part === undefined) return null
  const { $case: asked } = part
  if (path === `/fails/${asked}`) throw new Error('broken')
  if (asked === 'responseBody' && path === '/hidden/piece') return immediate(451, 'hidden')
  if (asked === 'requestHeaders') {
    if (path === '/denied') return immediate(403, 'not you', { 'x-why': 'tired' })
    if (path === '/edited') return answerTo(asked, headers({ 'x-user': 'ann' }, ['x-secret']))
  }
  if (asked === 'requestHeaders' && path === '/replaced')
    return answerTo(asked, { status: 1, ...bodyOf('another question') })
  if (asked === 'responseHeaders' && path === '/answer/replaced')
    return answerTo(asked, { status: 1, ...bodyOf('another answer') })
  if (asked === 'responseHeaders') {
    if (path === '/hidden') return immediate(451, 'hidden')
    if (path === '/edited') return answerTo(asked, headers({ ':status': '201', 'x-new': 'n' }))
  }
  if (asked === 'requestBody' && path === '/refused') return immediate(422, 'no')
  if (asked === 'requestTrailers' && path === '/late') return immediate(422, 'too late')
  if ((asked === 'requestTrailers' || asked === 'responseTrailers') && path === '/trailing/changed')
    return answerTo(asked, headers({ 'x-added': 'yes' }, ['x-other', 'x-more']))
  if (asked !== 'requestBody' && asked !== 'responseBody') return agree(message)
  const { body, endOfStream } = part.value
  const text = Buffer.from(body).toString()
  if (path === '/shout') return piece(asked, Buffer.from(text.toUpperCase()), endOfStream)
  if (path === '/grow') return piece(asked, Buffer.from(text.repeat(1000)), endOfStream)
  if (path === '/swallow') return piece(asked, Buffer.alloc(0), endOfStream)
  return agree(message)
}

const differences: readonly Difference[] = [
  {
    what: /^asked heads 1 transfer-encoding$/,
    requests: ['trailers of an answer', 'trailers both ways', 'trailers that are changed'],
    why: 'The header belongs to the connection and is removed before policies run on the response.',
  },
  {
    what: /^(asked heads [01]|backend headers|client headers) trailer$/,
    why: 'The header belongs to the connection; trailers carry their own names.',
  },
]

/** A difference by chance in framing headers. It is listed after the differences in these headers that always occur. */
const ofWholeBodies: Difference = {
  what: /^(backend|client) headers (content-length|transfer-encoding)$/,
  isByChance: true,
  why: 'The gateway sends the length when all of the new body is there before the head.',
}

const ofDuplex: readonly Difference[] = [
  {
    what: /^(asked|client|backend) /,
    requests: ['a body that is replaced at its head'],
    why: 'The gateway uses a new body in the reply to the headers and ignores late replies about the old body; Envoy responds with 500.',
  },
]

/** The same with one answer for each piece. */
const answering = (path: string, message: ProcessingRequest): ReturnType<Process> => {
  const said = byPath(path, message)
  const part = message.request
  if (part?.$case !== 'requestBody' && part?.$case !== 'responseBody') return said
  if (path === `/refused` || path === '/hidden/piece') return said
  const text = Buffer.from(part.value.body).toString()
  if (path === '/shout') return answerTo(part.$case, bodyOf(text.toUpperCase()))
  if (path === '/grow') return answerTo(part.$case, bodyOf(text.repeat(1000)))
  if (path === '/swallow')
    return answerTo(part.$case, { bodyMutation: { mutation: { $case: 'clearBody', value: true } } })
  return answerTo(part.$case)
}

describe('Envoy beside the gateway, with a processor (Streamed)', { skip }, () => {
  it('the processor, the client and the backend see the same but for what is listed', async (t) => {
    const sides = await useProcessorSides(t, 'Streamed', answering, answer)
    await compare(t, 'processor, piece by piece', sides, requests, [
      ...ofProcessors,
      ...differences,
      ofNewBodies,
      ofFailures,
      ofWholeBodies,
    ])
  })
})

describe('Envoy beside the gateway, with a processor (FullDuplexStreamed)', { skip }, () => {
  it('the processor, the client and the backend see the same but for what is listed', async (t) => {
    const sides = await useProcessorSides(t, 'FullDuplexStreamed', byPath, answer)
    await compare(t, 'processor, full duplex', sides, requests, [
      ...ofProcessors,
      ...differences,
      ofFailures,
      ofWholeBodies,
      ...ofDuplex,
    ])
  })
})
