import { Fields } from '../request/fields.ts'
import type { ResponseContext } from '../format.ts'
import { ChunkReader } from './completions/chunk-reader.ts'
import { EventReader } from './messages/event-reader.ts'
import { collectResponse } from '../response/collect-response.ts'
import type { ChatEvent, ChatRequest } from '../middle.ts'

/**
 * One object of each class that reads a single message and is then garbage. Keeping these objects keeps V8's optimized
 * code for their shapes while the gateway is idle, as the pipeline's keepalive objects do for requests.
 */
export function readerShapeKeepalive(): readonly object[] {
  return [new Fields({}), new ChunkReader(CONTEXT), new EventReader(CONTEXT), collectResponse(EVENTS)]
}

const REQUEST: ChatRequest = {
  format: 'completions',
  model: '',
  system: [],
  messages: [],
  tools: [],
  toolChoice: null,
  parallelTools: null,
  sampling: {},
  reasoning: null,
  output: { kind: 'text' },
  stream: false,
  user: null,
  rest: {},
}
const EVENTS: readonly ChatEvent[] = [
  { type: 'start', id: '', model: '', created: 0 },
  { type: 'partStart', index: 0, part: { type: 'text' } },
  { type: 'partDelta', index: 0, text: '' },
  { type: 'usage', usage: {} },
  { type: 'finish', reason: 'stop' },
]
const CONTEXT: ResponseContext = {
  request: REQUEST,
  model: '',
  now: 0,
  newId: (prefix) => prefix,
  toolNames: new Map(),
}
