import { z } from 'zod'
import { type Failure, VendorRefusal } from '../answer.ts'
import { check, type Complaints, dotted } from '../check.ts'
import { tokensOf } from '../formats/embeddings.ts'
import { type FakeReply, type FakeRequest, headerOf, json, type Vendor } from '../reply.ts'

export const COHERE_KEY = 'cohere-fake'
export const VOYAGE_KEY = 'pa-fake'

/** The first version of Cohere's API, which its older client calls, and the second one. */
export function cohereVendor(): Vendor {
  return {
    name: 'cohere',
    answer(request) {
      checkKey(request, COHERE_KEY)
      switch (`${request.method} ${request.path}`) {
        case 'POST /v1/rerank': {
          const asked = check(cohereFirstSchema, request.body, complaints)
          const texts = asked.documents.map((each) => (typeof each === 'string' ? each : each.text))
          return cohereReply(asked, texts, asked.return_documents === true)
        }
        case 'POST /v2/rerank': {
          const asked = check(cohereSecondSchema, request.body, complaints)
          return cohereReply(asked, asked.documents, false)
        }
        default:
          throw new VendorRefusal({ kind: 'notFound', message: `${request.path} not found` })
      }
    },
    fail: (failure) => json({ id: 'fake', message: failure.message }, {}, statusOf(failure)),
  }
}

export function voyageVendor(): Vendor {
  return {
    name: 'voyage',
    answer(request) {
      checkKey(request, VOYAGE_KEY)
      if (`${request.method} ${request.path}` !== 'POST /v1/rerank') {
        throw new VendorRefusal({ kind: 'notFound', message: 'Not Found' })
      }
      const asked = check(voyageSchema, request.body, complaints)
      const data = ranked(asked.query, asked.documents)
        .slice(0, asked.top_k ?? undefined)
        .map(({ index, score }) => ({
          ...{ index, relevance_score: score },
          ...(asked.return_documents === true && { document: asked.documents[index] }),
        }))
      const usage = { total_tokens: tokensOf([asked.query, ...asked.documents]) }
      return json({ object: 'list', data, model: asked.model, usage })
    },
    fail: (failure) => json({ detail: failure.message }, {}, statusOf(failure)),
  }
}

/** Documents that contain the query are most relevant, and the first ones more than later ones. */
export function ranked(query: string, documents: readonly string[]): { index: number; score: number }[] {
  return documents
    .map((text, index) => ({ index, score: (text.includes(query) ? 0.5 : 0) + 1 / 2 ** (index + 2) }))
    .toSorted((one, other) => other.score - one.score)
}

function cohereReply(
  { query, top_n: limit }: { query: string; top_n?: number | undefined },
  texts: readonly string[],
  showsDocuments: boolean,
): FakeReply {
  const results = ranked(query, texts)
    .slice(0, limit)
    .map(({ index, score }) => ({
      ...{ index, relevance_score: score },
      ...(showsDocuments && { document: { text: texts[index] } }),
    }))
  const meta = { api_version: { version: '2' }, billed_units: { search_units: Math.ceil(texts.length / 100) } }
  return json({ id: 'fake', results, meta })
}

function checkKey(request: FakeRequest, key: string): void {
  if (headerOf(request, 'authorization') === `Bearer ${key}`) return
  throw new VendorRefusal({ kind: 'authentication', message: 'invalid api token' })
}

function statusOf({ kind }: Failure): number {
  return (
    { authentication: 401, permission: 403, notFound: 404, rateLimit: 429, unavailable: 503 }[kind as string] ?? 400
  )
}

const complaints: Complaints = {
  unknown: (path, name) => `unknown field: parameter '${dotted([...path, name])}' is not a valid field`,
  wrong: (path, message) => `invalid request: ${dotted(path)}: ${message}`,
}

const cohereFirstSchema = z.strictObject({
  model: z.string().optional(),
  query: z.string().min(1),
  documents: z.array(z.union([z.string(), z.looseObject({ text: z.string() })])).min(1),
  top_n: z.int().min(1).optional(),
  rank_fields: z.array(z.string()).optional(),
  return_documents: z.boolean().optional(),
  max_chunks_per_doc: z.int().optional(),
})
const cohereSecondSchema = z.strictObject({
  model: z.string().min(1),
  query: z.string().min(1),
  documents: z.array(z.string()).min(1),
  top_n: z.int().min(1).optional(),
  max_tokens_per_doc: z.int().optional(),
  priority: z.int().optional(),
})
const voyageSchema = z.strictObject({
  model: z.string().min(1),
  query: z.string().min(1),
  documents: z.array(z.string()).min(1),
  top_k: z.int().min(1).nullish(),
  return_documents: z.boolean().optional(),
  truncation: z.boolean().optional(),
})
