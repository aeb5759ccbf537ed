import { z } from 'zod'
import { check } from '../check.ts'
import { openaiComplaints } from '../formats/completions-request.ts'
import { type FakeReply, type FakeRequest, json } from '../reply.ts'

/** OpenAI's moderations: a text that names violence is flagged. */
export function moderationsReply(request: FakeRequest): FakeReply {
  const { model = 'omni-moderation-latest', input } = check(schema, request.body, openaiComplaints)
  const texts =
    typeof input === 'string' ? [input] : input.map((each) => (typeof each === 'string' ? each : textOf(each)))
  // All parts together are one input; each text of a list is its own.
  const inputs = typeof input !== 'string' && input.some((each) => typeof each !== 'string') ? [texts.join(' ')] : texts
  return json({ id: 'modr-1', model: `${model}-2026`, results: inputs.map(resultOf) })
}

function resultOf(text: string): object {
  const flagged = text.includes('violence')
  return {
    flagged,
    categories: Object.fromEntries(CATEGORIES.map((name) => [name, flagged && name === 'violence'])),
    category_scores: Object.fromEntries(CATEGORIES.map((name) => [name, flagged && name === 'violence' ? 0.9 : 0.1])),
    category_applied_input_types: Object.fromEntries(CATEGORIES.map((name) => [name, ['text']])),
  }
}

function textOf(part: z.infer<typeof partSchema>): string {
  return part.type === 'text' ? part.text : ''
}

const CATEGORIES = [
  ...['harassment', 'harassment/threatening', 'hate', 'hate/threatening', 'illicit', 'illicit/violent', 'self-harm'],
  ...['self-harm/instructions', 'self-harm/intent', 'sexual', 'sexual/minors', 'violence', 'violence/graphic'],
]
const partSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string() }) }),
])
const schema = z.strictObject({
  model: z.string().min(1).optional(),
  input: z.union([z.string().min(1), z.array(z.string()).min(1), z.array(partSchema).min(1)]),
})
