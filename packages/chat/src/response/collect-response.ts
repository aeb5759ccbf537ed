import type {
  ChatError,
  ChatEvent,
  FinishReason,
  ReasoningPart,
  RefusalPart,
  StartedPart,
  TextPart,
  ToolCallPart,
  Usage,
} from '../middle.ts'

/** A response put together from all its events. */
export interface CollectedResponse {
  id: string
  model: string
  created?: number
  parts: AnswerPart[]
  /** Numbers of the choices that parts belong to, by the index of the part; absent when there is one choice. */
  choices?: Map<number, number>
  /** Null when the provider reported no usage. */
  usage: Usage | null
  /** Null when the response broke off. */
  finish: { reason: FinishReason; stopSequence?: string; others?: FinishReason[] } | null
  error: ChatError | null
}

type StartedNative = Extract<StartedPart, { type: 'native' }>
export type AnswerPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart | StartedNative

export function collectResponse(events: Iterable<ChatEvent>): CollectedResponse {
  const folded = nothingCollected()
  for (const event of events) collectInto(folded, event)
  return folded
}

export function nothingCollected(): CollectedResponse {
  return { id: '', model: '', parts: [], usage: null, finish: null, error: null }
}

/** Adds one event to a response that is collected event by event. */
export function collectInto(folded: CollectedResponse, event: ChatEvent): void {
  switch (event.type) {
    case 'start':
      folded.id = event.id
      folded.model = event.model
      if (event.created !== undefined) folded.created = event.created
      break
    case 'partStart':
      folded.parts[event.index] = beginPart(event.part)
      if (event.choice !== undefined) (folded.choices ??= new Map()).set(event.index, event.choice)
      break
    case 'partDelta': {
      const part = folded.parts[event.index]
      if (part?.type === 'toolCall') part.arguments += event.text
      else if (part !== undefined && part.type !== 'native') part.text += event.text
      break
    }
    case 'partEnd': {
      const part = folded.parts[event.index]
      if (part === undefined || part.type === 'native') break
      if (event.rest !== undefined && part.type !== 'reasoning' && part.type !== 'refusal') part.rest = event.rest
      if (event.signature !== undefined && (part.type === 'toolCall' || part.type === 'reasoning')) {
        part.signature = event.signature
      }
      if (event.opaque !== undefined && part.type === 'reasoning') part.opaque = event.opaque
      break
    }
    case 'usage':
      folded.usage = { ...folded.usage, ...event.usage }
      break
    case 'finish':
      folded.finish = { reason: event.reason }
      if (event.stopSequence !== undefined) folded.finish.stopSequence = event.stopSequence
      if (event.others !== undefined) folded.finish.others = event.others
      break
    case 'error':
      folded.error = event.error
      break
  }
}

function beginPart(started: StartedPart): AnswerPart {
  switch (started.type) {
    case 'toolCall':
      return { ...started, arguments: '' }
    case 'native':
      return started
    case 'text':
      return { type: 'text', text: '' }
    case 'refusal':
    case 'reasoning':
      return { ...started, text: '' }
  }
}
