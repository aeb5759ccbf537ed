import { z } from 'zod'
import { invalid, VendorRefusal } from '../answer.ts'
import { check } from '../check.ts'
import { openaiComplaints } from '../formats/completions-request.ts'
import { type FakeReply, type FakeRequest, json } from '../reply.ts'
import { onlyFile, readForm } from './form.ts'

interface StoredFile {
  info: object
  text: string
}

/** Serves one request of a batch, as the call on its own would be served. */
type Serve = (request: FakeRequest, endpoint: string) => FakeReply

/** OpenAI's files and batches; a batch is completed as soon as somebody asks for it. */
export class FakeBatches {
  readonly #files = new Map<string, StoredFile>()
  readonly #batches = new Map<string, object>()
  readonly #serve: Serve
  #count = 0

  constructor(serve: Serve) {
    this.#serve = serve
  }

  answer(request: FakeRequest, endpoint: string): FakeReply | null {
    const [, list, id, action] = /^(files|batches)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(endpoint) ?? []
    if (list === undefined) return null
    switch (`${request.method} ${list}${id === undefined ? '' : '/id'}${action === undefined ? '' : `/${action}`}`) {
      case 'POST files':
        return this.#upload(request)
      case 'GET files/id':
        return json(this.#file(id).info)
      case 'GET files/id/content':
        return {
          status: 200,
          headers: { 'content-type': 'application/octet-stream' },
          frames: [Buffer.from(this.#file(id).text)],
        }
      case 'DELETE files/id':
        this.#file(id)
        return json({ id, object: 'file', deleted: this.#files.delete(id ?? '') })
      case 'POST batches':
        return this.#create(request)
      case 'GET batches/id':
        return json(this.#batch(id))
      case 'POST batches/id/cancel':
        return json({ ...this.#batch(id), status: 'cancelling' })
      default:
        return null
    }
  }

  #upload(request: FakeRequest): FakeReply {
    const form = readForm(request)
    const { purpose, 'expires_after[seconds]': seconds } = check(uploadSchema, form.fields, openaiComplaints)
    const expiry = seconds === undefined ? {} : { expires_at: 1_700_000_000 + Number(seconds) }
    const text = onlyFile(form, 'file').toString()
    return json({ ...this.#store(text, { filename: form.files[0]?.filename, purpose, ...expiry }) })
  }

  #store(text: string, fields: object): object {
    const id = `file-fake${++this.#count}`
    const times = { created_at: 1_700_000_000, status: 'processed' }
    const info = { id, object: 'file', bytes: Buffer.byteLength(text), ...times, ...fields }
    this.#files.set(id, { info, text })
    return info
  }

  #create(request: FakeRequest): FakeReply {
    const asked = check(batchSchema, request.body, openaiComplaints)
    const lines = this.#file(asked.input_file_id)
      .text.split('\n')
      .filter((line) => line !== '')
    const results = lines.map((line, index) => this.#result(line, index, request))
    const output = this.#store(results.map((result) => `${result}\n`).join(''), {
      filename: 'output.jsonl',
      purpose: 'batch_output',
    })
    const id = `batch_fake${++this.#count}`
    const { output_expires_after: _expiry, ...echoed } = asked
    const common = { id, object: 'batch', ...echoed, created_at: 1_700_000_000, errors: null, error_file_id: null }
    const counts = { total: lines.length, completed: lines.length, failed: 0 }
    const outputId = 'id' in output ? output.id : null
    this.#batches.set(id, { ...common, status: 'completed', output_file_id: outputId, request_counts: counts })
    return json({ ...common, status: 'validating', output_file_id: null })
  }

  #result(line: string, index: number, request: FakeRequest): string {
    const asked = check(lineSchema, JSON.parse(line), openaiComplaints)
    const reply = this.#serve({ ...request, method: 'POST', body: asked.body }, asked.url.replace(/^\/v1\//, ''))
    const body: unknown = JSON.parse(Buffer.concat(reply.frames).toString())
    const response = { status_code: reply.status, request_id: `req_${index}`, body }
    return JSON.stringify({ id: `batch_req_${index}`, custom_id: asked.custom_id, response, error: null })
  }

  #file(id = ''): StoredFile {
    const file = this.#files.get(id)
    if (file === undefined) throw new VendorRefusal({ kind: 'notFound', message: `No such File object: ${id}` }, 'id')
    return file
  }

  #batch(id = ''): object {
    const batch = this.#batches.get(id)
    if (batch === undefined) throw invalid(`No batch found with id '${id}'.`)
    return batch
  }
}

const uploadSchema = z.strictObject({
  purpose: z.enum(['batch', 'fine-tune', 'user_data']),
  'expires_after[anchor]': z.literal('created_at').optional(),
  'expires_after[seconds]': z.string().regex(/^\d+$/).optional(),
})
const batchSchema = z.strictObject({
  input_file_id: z.string(),
  endpoint: z.enum(['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/moderations']),
  completion_window: z.literal('24h'),
  metadata: z.record(z.string(), z.string()).optional(),
  output_expires_after: z.strictObject({ anchor: z.literal('created_at'), seconds: z.int() }).optional(),
})
const lineSchema = z.strictObject({
  custom_id: z.string(),
  method: z.literal('POST'),
  url: z.string(),
  body: z.record(z.string(), z.unknown()),
})
