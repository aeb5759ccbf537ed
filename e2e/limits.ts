import { IMAGE_URL } from '../packages/gateway/src/testing/providers/scenes.ts'
import type { ClientFormatName } from './clients.ts'
import type { Target, UpstreamFormatName } from './targets.ts'

/** A request that a pair of formats cannot carry: the client gets a 400 that names the field, never a wrong answer. */
interface Limit {
  what: string
  why: string
  /** By client format: fields to add to a plain request, and the field that the refusal names. */
  asks: Partial<Record<ClientFormatName, readonly Ask[]>>
  refusedBy: (upstream: UpstreamFormatName, target: Target) => boolean
}

interface Ask {
  body: object
  field: string
}

const user = (content: unknown): object[] => [{ role: 'user', content }]
const text = 'Please play scene: text'

/** A plain question with something beside its text. */
const beside: Record<ClientFormatName, (part: object) => object> = {
  completions: (part) => ({ messages: user([{ type: 'text', text }, part]) }),
  messages: (part) => ({ max_tokens: 100, messages: user([{ type: 'text', text }, part]) }),
  responses: (part) => ({ input: user([{ type: 'input_text', text }, part]) }),
}
const stored = (field: string, value: unknown): Ask => ({ body: { input: text, [field]: value }, field })
const STORED = 'only the vendor that has the file can read it'
const DOCUMENT_URL = 'https://example.com/report.pdf'

const isClaudeAtGoogle = ({ name }: Target): boolean => name === 'vertexai Claude'

export const limits: Limit[] = [
  {
    what: '`previous_response_id`, `conversation`, `prompt`, `background`',
    why: 'the provider keeps no responses',
    asks: {
      responses: [
        stored('previous_response_id', 'resp_1'),
        stored('conversation', 'conv_1'),
        stored('conversation', { id: 'conv_1' }),
        stored('prompt', { id: 'pmpt_1' }),
        stored('background', true),
      ],
    },
    refusedBy: (upstream) => upstream !== 'responses',
  },
  {
    what: '`item_reference` (SDKs send whole items with `store: false`)',
    why: 'the provider keeps no items',
    asks: {
      responses: [
        { body: { input: [{ type: 'item_reference', id: 'msg_1' }, ...user(text)] }, field: 'input[].id' },
        { body: { input: [{ id: 'msg_1' }, ...user(text)] }, field: 'input[].id' },
      ],
    },
    refusedBy: (upstream) => upstream !== 'responses',
  },
  {
    what: '`n` above 1',
    why: 'the provider gives one answer at a time',
    asks: { completions: [{ body: { messages: user(text), n: 2 }, field: 'n' }] },
    refusedBy: (upstream) => upstream !== 'completions' && upstream !== 'gemini',
  },
  {
    what: 'images by URL',
    why: 'the provider takes bytes only',
    asks: {
      completions: [
        {
          body: beside.completions({ type: 'image_url', image_url: { url: IMAGE_URL } }),
          field: 'messages[].content[].image_url',
        },
      ],
      messages: [
        {
          body: beside.messages({ type: 'image', source: { type: 'url', url: IMAGE_URL } }),
          field: 'messages[].content[].source',
        },
      ],
      responses: [
        {
          body: beside.responses({ type: 'input_image', image_url: IMAGE_URL, detail: 'auto' }),
          field: 'input[].content[].image_url',
        },
      ],
    },
    refusedBy: (upstream, target) => upstream === 'gemini' || upstream === 'converse' || isClaudeAtGoogle(target),
  },
  {
    what: 'files by URL',
    why: 'the provider takes bytes only',
    asks: {
      messages: [
        {
          body: beside.messages({ type: 'document', source: { type: 'url', url: DOCUMENT_URL } }),
          field: 'messages[].content[].source',
        },
      ],
      responses: [
        {
          body: beside.responses({ type: 'input_file', file_url: DOCUMENT_URL }),
          field: 'input[].content[].file_url',
        },
      ],
    },
    refusedBy: (upstream, target) =>
      upstream === 'completions' || upstream === 'gemini' || upstream === 'converse' || isClaudeAtGoogle(target),
  },
  {
    what: '`file_id` of OpenAI in Chat Completions',
    why: STORED,
    asks: {
      completions: [
        {
          body: beside.completions({ type: 'file', file: { file_id: 'file-1' } }),
          field: 'messages[].content[].file.file_id',
        },
      ],
    },
    refusedBy: (upstream) => upstream !== 'completions',
  },
  {
    what: '`file_id` of OpenAI in Responses',
    why: STORED,
    asks: {
      responses: [
        {
          body: beside.responses({ type: 'input_image', file_id: 'file-1', detail: 'auto' }),
          field: 'input[].content[].file_id',
        },
        {
          body: beside.responses({ type: 'input_file', file_id: 'file-1' }),
          field: 'input[].content[].file_id',
        },
      ],
    },
    refusedBy: (upstream) => upstream !== 'responses',
  },
  {
    what: '`file_id` of Anthropic in Messages',
    why: STORED,
    asks: {
      messages: ['image', 'document'].map((type) => ({
        body: beside.messages({ type, source: { type: 'file', file_id: 'file_1' } }),
        field: 'messages[].content[].source.file_id',
      })),
    },
    refusedBy: (upstream, target) => upstream !== 'messages' || isClaudeAtGoogle(target),
  },
]
