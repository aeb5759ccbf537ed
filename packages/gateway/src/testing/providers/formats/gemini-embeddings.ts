import { z } from 'zod'
import { invalid } from '../answer.ts'
import { check } from '../check.ts'
import { type FakeReply, json } from '../reply.ts'
import { tokensOf, vectorOf } from './embeddings.ts'
import { geminiComplaints } from './gemini-request.ts'

/** `embedContent` and `batchEmbedContents`: each content gets a vector made of the length of its text. */
export function geminiEmbeddings(body: unknown, model: string, isBatch: boolean): FakeReply {
  const requests = isBatch
    ? check(batchSchema, body, geminiComplaints).requests
    : [check(requestSchema, body, geminiComplaints)]
  const other = requests.find((request) => request.model !== undefined && request.model !== `models/${model}`)
  if (other !== undefined) throw invalid(`the model of a request is ${other.model}, and that of the path ${model}`)
  const texts = requests.map(({ content }) => content.parts.map(({ text }) => text).join('\n'))
  const embeddings = requests.map(({ outputDimensionality }, index) => ({
    values: vectorOf(texts[index] ?? '', outputDimensionality),
  }))
  const usage = { usageMetadata: { promptTokenCount: tokensOf(texts) } }
  return json(isBatch ? { embeddings, ...usage } : { embedding: embeddings[0], ...usage })
}

const requestSchema = z.strictObject({
  model: z.string().optional(),
  content: z.strictObject({ parts: z.array(z.strictObject({ text: z.string() })).min(1), role: z.string().optional() }),
  taskType: z.string().optional(),
  title: z.string().optional(),
  outputDimensionality: z.int().optional(),
})
const batchSchema = z.strictObject({ requests: z.array(requestSchema.extend({ model: z.string() })).min(1) })
