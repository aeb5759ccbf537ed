import { CohereClient, CohereClientV2, CohereError } from 'cohere-ai'
import { VoyageAIClient, VoyageAIError } from 'voyageai'
import { DOCUMENTS, type Job, type Outcome } from './call.ts'

/** The calls of the libraries of Cohere and Voyage for JavaScript. */

const query = 'dogs'

const cohere: Record<string, (job: Job) => Promise<unknown>> = {
  async rerank({ url, key, model }) {
    const sdk = new CohereClientV2({ environment: url, token: key })
    const { results, meta } = await sdk.rerank({ model, query, documents: DOCUMENTS, topN: 2 }, ONCE)
    return {
      results: results.map(({ index, relevanceScore }) => [index, relevanceScore]),
      units: meta?.billedUnits?.searchUnits,
    }
  },
  async rerank_first_version({ url, key, model }) {
    const sdk = new CohereClient({ environment: url, token: key })
    const asked = { model, query, documents: DOCUMENTS.map((text) => ({ text })), topN: 2, returnDocuments: true }
    const { results } = await sdk.rerank(asked, ONCE)
    return results.map(({ index, relevanceScore, document }) => [index, relevanceScore, document?.text])
  },
  async rerank_refused({ url, key, model }) {
    const sdk = new CohereClientV2({ environment: url, token: key })
    return sdk.rerank({ model, query: '', documents: DOCUMENTS }, ONCE)
  },
}

const voyage: Record<string, (job: Job) => Promise<unknown>> = {
  async rerank({ url, key, model }) {
    const sdk = new VoyageAIClient({ environment: `${url}/v1`, apiKey: key })
    const { data, usage } = await sdk.rerank({ model, query, documents: DOCUMENTS, topK: 2 }, ONCE)
    return { results: data?.map(({ index, relevanceScore }) => [index, relevanceScore]), tokens: usage?.totalTokens }
  },
  async rerank_documents({ url, key, model }) {
    const sdk = new VoyageAIClient({ environment: `${url}/v1`, apiKey: key })
    const settings = { model, query, documents: DOCUMENTS, returnDocuments: true, truncation: true }
    const { data } = await sdk.rerank(settings, ONCE)
    return data?.map(({ index, document }) => [index, document])
  },
  async rerank_refused({ url, key, model }) {
    const sdk = new VoyageAIClient({ environment: `${url}/v1`, apiKey: key })
    return sdk.rerank({ model, query, documents: [] }, ONCE)
  },
}

const ONCE = { maxRetries: 0 }

export async function callRerank(job: Job): Promise<Outcome> {
  try {
    const run = (job.library === 'cohere' ? cohere : voyage)[job.call]
    if (run === undefined) throw new Error(`no call ${job.call}`)
    return { value: await run(job) }
  } catch (error) {
    if (!(error instanceof CohereError) && !(error instanceof VoyageAIError)) throw error
    const { message, detail } = error.body as { message?: string; detail?: string }
    return { error: { status: error.statusCode ?? 0, message: message ?? detail ?? '' } }
  }
}
