import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import OpenAI from 'openai'
import { httpConfig, useGateway } from '../../../testing/scene.ts'

/** A form as the provider's server reads it, with the parser of the runtime. */
interface SeenForm {
  url: string
  headers: IncomingMessage['headers']
  parts: [name: string, value: string, filename: string | null][]
}

type Answer = (response: ServerResponse, form: SeenForm) => void

export const json =
  (body: object, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
export const text = (body: string, type = 'text/plain; charset=utf-8'): Answer => {
  return (response) => response.writeHead(200, { 'content-type': type }).end(body)
}

/** Files stand in the parts by their hash. */
async function readParts(message: IncomingMessage): Promise<SeenForm['parts']> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const headers = { 'content-type': message.headers['content-type'] ?? '' }
  const form = await new Response(Buffer.concat(chunks), { headers }).formData()
  return Promise.all(
    [...form].map(async ([name, value]): Promise<SeenForm['parts'][number]> => {
      if (typeof value === 'string') return [name, value, null]
      return [name, hashOf(Buffer.from(await value.arrayBuffer())), value.name]
    }),
  )
}

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** A server that reads forms, and keeps what it has read. */
export async function useProvider(t: TestContext, answer: Answer) {
  const seen: SeenForm[] = []
  const server = createServer((message, response) => {
    readParts(message).then(
      (parts) => {
        const form = { url: message.url ?? '', headers: message.headers, parts }
        seen.push(form)
        answer(response, form)
      },
      () => response.destroy(),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close().closeAllConnections())
  return { seen, port: (server.address() as AddressInfo).port }
}

interface FormScene {
  answer: Answer
  backend?: object
  policies?: object
  frontend?: object
  backends?: object[]
}

/** A gateway in front of one provider, and the SDK of OpenAI in front of the gateway. */
export async function useForms(
  t: TestContext,
  { answer, backend = {}, policies = {}, frontend = {}, backends = [] }: FormScene,
) {
  const provider = await useProvider(t, answer)
  const route = {
    policies: { ...policies, backend: { auth: { key: 'sk-ours' }, ...backend } },
    backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port: provider.port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route], { frontend, backends }), {
    logFormat: 'json',
  })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const sdk = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port()}/v1`, apiKey: 'client', maxRetries: 0 })
  let ended = 0
  const line = async () => {
    await gateway.finished(++ended)
    return JSON.parse(gateway.lines[ended - 1] ?? '') as Record<string, unknown>
  }
  return { seen: provider.seen, gateway, sdk, line }
}

/** The bytes of a form: fields, and files with a name. */
export function formOf(
  parts: readonly (readonly [name: string, content: string | Buffer])[],
  boundary = BOUNDARY,
): Buffer {
  const pieces = parts.flatMap(([name, content]) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    typeof content === 'string' ? '' : '; filename="a.mp3"\r\nContent-Type: audio/mpeg',
    '\r\n\r\n',
    content,
    '\r\n',
  ])
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
}

const BOUNDARY = '----formdata-undici-062047390126'

/** A request whose body the test writes piece by piece. */
export function startUpload(port: number, { path, length }: { path: string; length?: number }) {
  const headers = {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    ...(length !== undefined && { 'content-length': length }),
  }
  const upload = request({ port, host: '127.0.0.1', method: 'POST', path, headers, agent: false })
  const answered = new Promise<{ status: number; body: string }>((resolve, reject) => {
    upload.on('error', reject)
    upload.on('response', (response: IncomingMessage) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
  })
  // A test that does not wait for the response does not care about its failure.
  answered.catch(() => {})
  return { upload, answered }
}

/** Sends a form in one piece. */
export async function sendForm(port: number, path: string, body: Buffer, headers: Record<string, string> = {}) {
  const type = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  const init = { method: 'POST', headers: { ...type, ...headers }, body: new Uint8Array(body) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return { status: response.status, body: await response.text() }
}
