import { createHash } from 'node:crypto'
import { z } from 'zod'
import { invalid } from '../answer.ts'
import { check } from '../check.ts'
import { openaiComplaints } from '../formats/completions-request.ts'
import { type FakeReply, type FakeRequest, headerOf, json, sse } from '../reply.ts'
import { typedFrame } from '../sse.ts'
import { readForm } from './form.ts'

const IMAGE_USAGE = {
  input_tokens: 50,
  output_tokens: 1000,
  total_tokens: 1050,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
}

/** The image that the fake makes of a prompt and of images: the hash of all of them. */
export function imageOf(prompt: string, ...images: readonly Buffer[]): string {
  const hash = createHash('sha256').update(prompt)
  for (const image of images) hash.update(image)
  return hash.digest('base64')
}

export function imagesReply(request: FakeRequest, endpoint: string): FakeReply | null {
  switch (endpoint) {
    case 'images/generations': {
      const asked = check(generationSchema, request.body, openaiComplaints)
      return answer(asked, imageOf(asked.prompt), 'image_generation')
    }
    case 'images/edits':
      return edited(request)
    case 'images/variations': {
      const { fields, files } = readForm(request)
      const { n = 1, ...asked } = check(variationSchema, fields, openaiComplaints)
      const [image] = files
      if (image?.name !== 'image' || files.length > 1) throw invalid(`Missing required parameter: 'image'.`, 'image')
      return answer({ ...asked, model: 'dall-e-2', n }, imageOf('', image.bytes), 'image_variation')
    }
    default:
      return null
  }
}

function edited(request: FakeRequest): FakeReply {
  if (headerOf(request, 'content-type').startsWith('application/json')) {
    const asked = check(jsonEditSchema, request.body, openaiComplaints)
    const images = asked.images.map(({ image_url: url }) => Buffer.from(url))
    return answer(asked, imageOf(asked.prompt, ...images), 'image_edit')
  }
  const { fields, files } = readForm(request)
  const asked = check(editSchema, fields, openaiComplaints)
  const unknown = files.find(({ name }) => !['image', 'image[]', 'mask'].includes(name))
  if (unknown !== undefined) throw invalid(openaiComplaints.unknown([], unknown.name), unknown.name)
  const isMask = ({ name }: { name: string }): boolean => name === 'mask'
  // Libraries send the mask before or after the images.
  const inOrder = [...files.filter((file) => !isMask(file)), ...files.filter(isMask)]
  return answer(asked, imageOf(asked.prompt, ...inOrder.map(({ bytes }) => bytes)), 'image_edit')
}

interface AskedImages {
  model: string
  n?: number | undefined
  stream?: boolean | undefined
  partial_images?: number | undefined
}

function answer(
  { model, n = 1, stream = false, partial_images: partial = 0 }: AskedImages,
  image: string,
  type: string,
) {
  const usage = model.startsWith('gpt-image') ? { usage: IMAGE_USAGE } : {}
  if (!stream) return json({ created: 1, data: Array.from({ length: n }, () => ({ b64_json: image })), ...usage })
  const common = { created_at: 1, size: '1024x1024', quality: 'high', background: 'opaque', output_format: 'png' }
  const frames = Array.from({ length: partial }, (_, index) =>
    typedFrame({ type: `${type}.partial_image`, b64_json: image, partial_image_index: index, ...common }),
  )
  return sse([...frames, typedFrame({ type: `${type}.completed`, b64_json: image, ...common, ...usage })])
}

const number = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)])
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
const settings = {
  model: z.string().min(1),
  prompt: z.string().min(1),
  n: number.optional(),
  size: z.string().optional(),
  quality: z.string().optional(),
  background: z.string().optional(),
  output_format: z.string().optional(),
  output_compression: number.optional(),
  partial_images: number.optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  stream: flag.optional(),
  user: z.string().optional(),
}
const generationSchema = z.strictObject({
  ...settings,
  moderation: z.string().optional(),
  style: z.string().optional(),
})
const editSchema = z.strictObject({ ...settings, input_fidelity: z.string().optional() })
const jsonEditSchema = editSchema.extend({ images: z.array(z.strictObject({ image_url: z.string() })).min(1) })
const variationSchema = z.strictObject({
  model: z.literal('dall-e-2').optional(),
  n: number.optional(),
  size: z.string().optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  user: z.string().optional(),
})
