import type { UpstreamFormat } from '../format.ts'
import { type ChatRequest, type Loss, type Part, UnsupportedField } from '../middle.ts'
import { requestMembers } from '../request/request-members.ts'
import { chatRequest } from './chat-request.ts'

/** The tables of README.md, made from the formats as they are. */

const tool = { name: 'f', schema: { type: 'object' } }
const asked = (...parts: Part[]): Partial<ChatRequest> => ({ messages: [{ role: 'user', parts }] })

/** One request for each feature, which uses nothing else. */
const features: Readonly<Record<string, Partial<ChatRequest>>> = {
  'system instructions': { system: [{ type: 'text', text: 's' }] },
  'instructions inside the conversation': { messages: [{ role: 'system', parts: [{ type: 'text', text: 's' }] }] },
  'images as bytes': asked({ type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'aGk=' } }),
  'images by URL': asked({ type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } }),
  'PDF as bytes': asked({
    type: 'file',
    name: 'a.pdf',
    source: { kind: 'data', mediaType: 'application/pdf', data: 'aGk=' },
  }),
  'audio input': asked({ type: 'audio', format: 'wav', data: 'aGk=' }),
  tools: { tools: [tool] },
  'a required tool call': { tools: [tool], toolChoice: { kind: 'required' } },
  'a named tool': { tools: [tool], toolChoice: { kind: 'tool', name: 'f' } },
  'no parallel calls': { tools: [tool], parallelTools: false },
  'strict tools': { tools: [{ ...tool, strict: true }] },
  'tools that take free text': { tools: [{ ...tool, custom: {} }] },
  'failed tool results': {
    messages: [
      { role: 'assistant', parts: [{ type: 'toolCall', id: 'call_1', name: 'f', arguments: '{}' }] },
      {
        role: 'user',
        parts: [{ type: 'toolResult', id: 'call_1', parts: [{ type: 'text', text: 'no' }], isError: true }],
      },
    ],
    tools: [tool],
  },
  'reasoning effort': { reasoning: { effort: 'low' } },
  'JSON output': { output: { kind: 'json' } },
  'output by a schema': { output: { kind: 'schema', name: 's', schema: { type: 'object' } } },
  'maximum of tokens': { sampling: { maxTokens: 9000 } },
  temperature: { sampling: { temperature: 0.5 } },
  top_p: { sampling: { topP: 0.5 } },
  top_k: { sampling: { topK: 5 } },
  'frequency penalty': { sampling: { frequencyPenalty: 0.5 } },
  'presence penalty': { sampling: { presencePenalty: 0.5 } },
  seed: { sampling: { seed: 7 } },
  'stop sequences': { sampling: { stop: ['x'] } },
  'cache marks': asked({ type: 'text', text: 'a', cache: { type: 'ephemeral' } }),
  'end user': { user: 'ann' },
}

/** For each feature the fate in every format of providers. */
export function featureTable(formats: readonly UpstreamFormat[]): string {
  const rows = Object.entries(features).map(([name, given]) => [name, ...formats.map((format) => fate(format, given))])
  return table(['feature', ...formats.map(({ name }) => name)], rows)
}

/** Encodes for a client of another format, because a client of the same format keeps all of its members. */
function fate(format: UpstreamFormat, given: Partial<ChatRequest>): string {
  const client = format.name === 'messages' ? 'completions' : 'messages'
  const plain = chatRequest({
    format: client,
    sampling: { maxTokens: 9000 },
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  })
  const losses: Loss[] = []
  const request = { ...plain, ...given, sampling: { ...plain.sampling, ...given.sampling } }
  const body = format.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, losses)
  if (body instanceof UnsupportedField) return 'refused'
  if (losses.some(({ what }) => what === 'dropped')) return 'loss'
  return losses.length > 0 ? 'changed' : 'yes'
}

/** For each format of clients its members, by their fate at a provider of another format. */
export function memberTable(): string {
  const rows = Object.entries(requestMembers).map(([format, members]) => {
    const names = (wanted: string): string =>
      Object.entries(members)
        .filter(([, found]) => (typeof found === 'object' ? 'refused' : found) === wanted)
        .map(([name]) => `\`${name}\``)
        .toSorted()
        .join(', ')
    return [format, names('carried'), names('lossy'), names('refused')]
  })
  return table(['client format', 'carried', 'loss', 'refused'], rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
