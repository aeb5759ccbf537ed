import { z } from 'zod'
import { VendorRefusal } from '../answer.ts'
import { check } from '../check.ts'
import { anthropicComplaints } from '../formats/messages-request.ts'
import { type FakeReply, type FakeRequest, headerOf, json } from '../reply.ts'

interface StoredBatch {
  batch: { id: string }
  results: string
}

/** Anthropic's message batches; a batch has ended as soon as somebody asks for it. */
export class FakeMessageBatches {
  readonly #batches = new Map<string, StoredBatch>()
  /** Serves the request of a message as the call on its own would be served. */
  readonly #serve: (params: Record<string, unknown>) => FakeReply
  #count = 0

  constructor(serve: (params: Record<string, unknown>) => FakeReply) {
    this.#serve = serve
  }

  answer(request: FakeRequest, endpoint: string): FakeReply | null {
    const [, id, action] = /^messages\/batches(?:\/([^/]+))?(?:\/(\w+))?$/.exec(endpoint) ?? []
    if (!endpoint.startsWith('messages/batches')) return null
    switch (`${request.method} ${id === undefined ? '' : 'id'}${action === undefined ? '' : `/${action}`}`) {
      case 'POST ':
        return this.#create(request)
      case 'GET id':
        return json({
          ...this.#find(id).batch,
          processing_status: 'ended',
          ended_at: TIME,
          results_url: `http://${headerOf(request, 'host')}/v1/messages/batches/${id}/results`,
        })
      case 'GET id/results':
        return {
          status: 200,
          headers: { 'content-type': 'application/x-jsonl' },
          frames: [Buffer.from(this.#find(id).results)],
        }
      case 'POST id/cancel':
        return json({ ...this.#find(id).batch, processing_status: 'canceling', cancel_initiated_at: TIME })
      case 'DELETE id':
        this.#batches.delete(this.#find(id).batch.id)
        return json({ id, type: 'message_batch_deleted' })
      default:
        return null
    }
  }

  #create(request: FakeRequest): FakeReply {
    const { requests } = check(schema, request.body, anthropicComplaints)
    const id = `msgbatch_fake${++this.#count}`
    const counts = { processing: requests.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 }
    const times = { created_at: TIME, expires_at: TIME, ended_at: null, archived_at: null, cancel_initiated_at: null }
    const batch = {
      ...{ id, type: 'message_batch', processing_status: 'in_progress', request_counts: counts },
      ...{ ...times, results_url: null },
    }
    const results = requests.map(({ custom_id, params }) => JSON.stringify({ custom_id, result: this.#result(params) }))
    this.#batches.set(id, { batch, results: results.map((line) => `${line}\n`).join('') })
    return json(batch)
  }

  #result(params: Record<string, unknown>): object {
    try {
      const message: unknown = JSON.parse(Buffer.concat(this.#serve(params).frames).toString())
      return { type: 'succeeded', message }
    } catch (error) {
      if (!(error instanceof VendorRefusal)) throw error
      const inner = { type: 'invalid_request_error', message: error.message }
      return { type: 'errored', error: { type: 'error', error: inner, request_id: null } }
    }
  }

  #find(id = ''): StoredBatch {
    const batch = this.#batches.get(id)
    if (batch === undefined) throw new VendorRefusal({ kind: 'notFound', message: `Message Batch ${id} not found.` })
    return batch
  }
}

const TIME = '2026-11-19T12:00:00.123456Z'

const schema = z.strictObject({
  requests: z.array(z.strictObject({ custom_id: z.string(), params: z.record(z.string(), z.unknown()) })).min(1),
})
