import { Fields } from './fields.ts'
import type { ResponseContext } from './format.ts'
import { ChunkReader } from './formats/completions/chunk-reader.ts'
import { EventReader } from './formats/messages/event-reader.ts'
import type { ChatRequest } from './middle.ts'

/**
 * One of each object that reads one message and is gone then. Whoever keeps them keeps what V8 has optimised for their
 * shapes over a rest, as `pipeline/specimens.ts` does for requests.
 */
export function readerSpecimens(): readonly object[] {
  return [new Fields({}), new ChunkReader(CONTEXT), new EventReader(CONTEXT)]
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
const CONTEXT: ResponseContext = {
  request: REQUEST,
  model: '',
  now: 0,
  newId: (prefix) => prefix,
  toolNames: new Map(),
}
