import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import OpenAI from 'openai'
import { httpConfig, useGateway } from '../../../testing/scene.ts'

/** A provider with files and batches in OpenAI's format, which records the requests that it receives. */
export async function useBatchProvider(
  t: TestContext,
  { results = resultsOf }: { results?: (input: string) => string } = {},
) {
  const files = new Map<string, string>()
  const calls: string[] = []
  const broken: string[] = []
  let count = 0
  const batches = new Map<string, object>()
  const server = createServer((message, response) => {
    const { method = '', url = '' } = message
    calls.push(`${method} ${url}`)
    if (method === 'POST' && url === '/v1/files') {
      readForm(message).then(
        (form) => {
          const id = `file-up${++count}`
          files.set(id, form.get('file') ?? '')
          json(response, {
            id,
            object: 'file',
            bytes: 1,
            created_at: 1,
            filename: 'a.jsonl',
            purpose: form.get('purpose') ?? '',
          })
        },
        () => {
          broken.push(url)
          response.destroy()
        },
      )
      return
    }
    const [, list, id = '', action] = /^\/v1\/(files|batches)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(url) ?? []
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      if (list === 'files') {
        const text = files.get(id)
        if (text === undefined) return json(response, { error: { message: `No such File object: ${id}` } }, 404)
        if (action === 'content')
          return response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(text)
        if (method === 'DELETE') return json(response, { id, object: 'file', deleted: files.delete(id) })
        return json(response, { id, object: 'file', bytes: text.length, filename: 'a.jsonl', purpose: 'batch' })
      }
      if (method === 'POST' && id === '') {
        const asked = JSON.parse(Buffer.concat(chunks).toString()) as { input_file_id: string }
        const input = files.get(asked.input_file_id)
        if (input === undefined) return json(response, { error: { message: 'no such file' } }, 400)
        const output = `file-out${++count}`
        files.set(output, results(input))
        const batch = {
          ...asked,
          id: `batch_${count}`,
          object: 'batch',
          status: 'completed',
          created_at: 1_700_000_000,
        }
        batches.set(batch.id, { ...batch, output_file_id: output, error_file_id: null })
        return json(response, { ...batch, status: 'validating' })
      }
      const batch = batches.get(id)
      if (batch === undefined) return json(response, { error: { message: 'no such batch' } }, 404)
      json(response, action === 'cancel' ? { ...batch, status: 'cancelling' } : batch)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close().closeAllConnections())
  return { files, calls, broken, port: (server.address() as AddressInfo).port }
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function readForm(message: IncomingMessage): Promise<Map<string, string>> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const headers = { 'content-type': message.headers['content-type'] ?? '' }
  const form = await new Response(Buffer.concat(chunks), { headers }).formData()
  const parts = new Map<string, string>()
  for (const [name, value] of form) parts.set(name, typeof value === 'string' ? value : await value.text())
  return parts
}

/** Returns results in which each request used 100 input tokens and 10 output tokens. */
function resultsOf(input: string): string {
  return input
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      const { custom_id, body } = JSON.parse(line) as { custom_id: string; body: { model: string } }
      const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
      const message = { role: 'assistant', content: 'the secret word' }
      const chat = { id: 'c', object: 'chat.completion', model: body.model, choices: [{ index: 0, message }], usage }
      return `${JSON.stringify({ id: `r${index}`, custom_id, response: { status_code: 200, body: chat }, error: null })}\n`
    })
    .join('')
}

interface BatchScene {
  port: number
  policies?: object
  backend?: object
  ai?: (provider: object) => object
  more?: Parameters<typeof useGateway>[2]
}

/** Starts a gateway with four API keys in front of the provider, and returns a client for each key. */
export async function useBatches(t: TestContext, { port, policies = {}, backend = {}, ai, more }: BatchScene) {
  const data = {
    ann: { key: 'key-of-ann', metadata: { team: 'red' } },
    bob: { key: 'key-of-bob', metadata: { team: 'blue' } },
    zoe: { key: 'key-of-zoe', metadata: { team: 'red' } },
    eve: { key: 'key-of-eve' },
  }
  const provider = { openai: {}, host: '127.0.0.1', port }
  const route = {
    policies: {
      apiKeyAuthentication: { secretRef: { data } },
      ...policies,
      backend: { auth: { key: 'sk-ours' }, ...backend },
    },
    backends: [{ ai: ai?.(provider) ?? { provider } }],
  }
  const gateway = await useGateway(t, httpConfig([route]), { logFormat: 'json', ...more })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const client = (name: string) =>
    new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port()}/v1`, apiKey: `key-of-${name}`, maxRetries: 0 })
  const lines = () => gateway.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { gateway, client, lines }
}

export function requestLine(index: number, body: object = {}, line: object = {}): string {
  const messages = [{ role: 'user', content: `question ${index}` }]
  const chat = { model: 'gpt-4o', max_tokens: 50, messages, ...body }
  return JSON.stringify({ custom_id: `q${index}`, method: 'POST', url: '/v1/chat/completions', body: chat, ...line })
}

export function fileOf(lines: readonly string[]): File {
  return new File([lines.map((line) => `${line}\n`).join('')], 'requests.jsonl')
}
