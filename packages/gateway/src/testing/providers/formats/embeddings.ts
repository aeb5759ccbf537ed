import { z } from 'zod'
import { check } from '../check.ts'
import { type FakeReply, json } from '../reply.ts'
import { openaiComplaints } from './completions-request.ts'

/** OpenAI's embeddings: each input gets a vector made of its length, as numbers or as base64. */
export function embeddingsReply(body: unknown): FakeReply {
  const request = check(requestSchema, body, openaiComplaints)
  const inputs = typeof request.input === 'string' ? [request.input] : request.input
  return json({
    object: 'list',
    model: request.model,
    data: inputs.map((input, index) => {
      const vector = vectorOf(input, request.dimensions)
      const embedding =
        request.encoding_format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector
      return { object: 'embedding', index, embedding }
    }),
    usage: { prompt_tokens: tokensOf(inputs), total_tokens: tokensOf(inputs) },
  })
}

/** Eighths, which floats of any size hold exactly. */
export function vectorOf(input: string, dimensions = 4): number[] {
  return Array.from({ length: dimensions }, (_, at) => (input.length + at) / 8)
}

export function tokensOf(inputs: readonly string[]): number {
  return inputs.reduce((sum, input) => sum + input.split(/\s+/).filter((word) => word !== '').length, 0)
}

const requestSchema = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  dimensions: z.int().min(1).optional(),
  encoding_format: z.enum(['float', 'base64']).optional(),
  user: z.string().optional(),
})
