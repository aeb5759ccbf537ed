import Anthropic, { APIError } from '@anthropic-ai/sdk'
import type { Job, Outcome } from './call.ts'

/** The calls of Anthropic's library for JavaScript: message batches. */

type Batches = Anthropic['messages']['batches']

const calls: Record<string, (sdk: Anthropic, model: string) => Promise<unknown>> = {
  batch: (sdk, model) => fromCreationToEnd(sdk.messages.batches, model),
  // The library has the same calls with a header and a query of their own.
  batch_beta: (sdk, model) => fromCreationToEnd(sdk.beta.messages.batches as unknown as Batches, model),
  async batch_unknown(sdk, model) {
    const { id } = await sdk.messages.batches.create({ requests: [requestOf('q0', model, { odd: 'member' })] })
    return resultsOf(sdk.messages.batches, id)
  },
  async batch_unknown_member(sdk, model) {
    const body = { requests: [requestOf('q0', model)], odd: 'member' }
    return sdk.messages.batches.create(body)
  },
  batches: async (sdk) => (await sdk.messages.batches.list({ limit: 5 })).data,
}

async function fromCreationToEnd(batches: Batches, model: string): Promise<unknown> {
  const created = await batches.create({ requests: [requestOf('q0', model), requestOf('q1', model)] })
  const batch = await batches.retrieve(created.id)
  const results = await resultsOf(batches, batch.id)
  const canceled = await batches.cancel(batch.id)
  const { type } = await batches.delete(batch.id)
  return {
    statuses: [created.processing_status, batch.processing_status, canceled.processing_status],
    ...{ processing: created.request_counts.processing, results, type },
  }
}

async function resultsOf(batches: Batches, id: string): Promise<unknown[]> {
  const results: unknown[] = []
  for await (const { custom_id, result } of await batches.results(id)) {
    if (result.type === 'succeeded') {
      const [block] = result.message.content
      results.push([custom_id, block?.type === 'text' ? block.text : null])
    } else results.push([custom_id, result.type === 'errored' ? result.error.error.message : result.type])
  }
  return results
}

function requestOf(custom_id: string, model: string, more: object = {}) {
  const messages = [{ role: 'user' as const, content: 'scene: text' }]
  return { custom_id, params: { model, max_tokens: 50, messages, ...more } }
}

export async function callAnthropic({ call, url, key, model }: Job): Promise<Outcome> {
  const sdk = new Anthropic({ baseURL: url, authToken: key, apiKey: null, maxRetries: 0 })
  try {
    const run = calls[call]
    if (run === undefined) throw new Error(`no call ${call}`)
    return { value: await run(sdk, model) }
  } catch (error) {
    if (!(error instanceof APIError) || error.status === undefined) throw error
    const { error: inner } = (error.error ?? {}) as { error?: { message?: string } }
    return { error: { status: error.status as number, message: inner?.message ?? '' } }
  }
}
