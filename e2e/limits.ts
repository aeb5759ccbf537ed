import { IMAGE_URL } from '../packages/gateway/src/testing/providers/scenes.ts'
import type { ClientFormatName } from './clients.ts'
import type { Target, UpstreamFormatName } from './targets.ts'

/** What a pair cannot carry by its nature: a 400 that names the field, never an answer to another question. */
export interface Limit {
  what: string
  why: string
  /** By what the client speaks: what is put into a plain request, and the field that the refusal names. */
  asks: Partial<Record<ClientFormatName, { body: object; field: string }>>
  refusedBy: (upstream: UpstreamFormatName, target: Target) => boolean
}

const user = (content: unknown): object[] => [{ role: 'user', content }]
const text = 'Please play scene: text'

export const limits: Limit[] = [
  {
    what: '`previous_response_id`, `conversation`, `prompt`',
    why: 'the provider keeps no responses',
    asks: { responses: { body: { input: text, previous_response_id: 'resp_1' }, field: 'previous_response_id' } },
    refusedBy: (upstream) => upstream !== 'responses',
  },
  {
    what: '`item_reference` (SDKs send whole items with `store: false`)',
    why: 'the provider keeps no items',
    asks: {
      responses: { body: { input: [{ type: 'item_reference', id: 'msg_1' }, ...user(text)] }, field: 'input[].id' },
    },
    refusedBy: (upstream) => upstream !== 'responses',
  },
  {
    what: '`n` above 1',
    why: 'the provider gives one answer at a time',
    asks: { completions: { body: { messages: user(text), n: 2 }, field: 'n' } },
    refusedBy: (upstream) => upstream !== 'completions',
  },
  {
    what: 'images by URL',
    why: 'the provider takes bytes only',
    asks: {
      completions: {
        body: {
          messages: user([
            { type: 'text', text },
            { type: 'image_url', image_url: { url: IMAGE_URL } },
          ]),
        },
        field: 'messages[].content[].image_url',
      },
      messages: {
        body: {
          max_tokens: 100,
          messages: user([
            { type: 'text', text },
            { type: 'image', source: { type: 'url', url: IMAGE_URL } },
          ]),
        },
        field: 'messages[].content[].source',
      },
      responses: {
        body: {
          input: user([
            { type: 'input_text', text },
            { type: 'input_image', image_url: IMAGE_URL, detail: 'auto' },
          ]),
        },
        field: 'input[].content[].image_url',
      },
    },
    refusedBy: (upstream) => upstream === 'gemini' || upstream === 'converse',
  },
  {
    what: 'files stored at another provider, by id',
    why: 'only the vendor that has the file can read it',
    asks: {
      responses: {
        body: {
          input: user([
            { type: 'input_text', text },
            { type: 'input_image', file_id: 'file-1', detail: 'auto' },
          ]),
        },
        field: 'input[].content[].image_url',
      },
    },
    refusedBy: (upstream) => upstream !== 'responses',
  },
]
