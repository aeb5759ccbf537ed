import { isObject } from '@portico/http/json'
import { EventReader } from '../api/event-reader.ts'

/** A tool call that a model requests. */
export interface RequestedToolCall {
  readonly id: string
  readonly name: string
  /** JSON, as the model wrote it. */
  readonly arguments: string
}

export interface ChatAnswer {
  readonly text: string
  readonly calls: readonly RequestedToolCall[]
  readonly model: string | null
  readonly finish: string | null
  readonly usage: { readonly input: number; readonly output: number } | null
  /** The error that the stream itself reported. */
  readonly error: string | null
}

/** `ChatReader` reads a response of Chat Completions as it arrives: a stream of chunks, or one document. */
export class ChatReader {
  readonly #events: EventReader | null
  #document = ''
  #text = ''
  readonly #calls: { id: string; name: string; arguments: string }[] = []
  #model: string | null = null
  #finish: string | null = null
  #usage: ChatAnswer['usage'] = null
  #error: string | null = null

  constructor(isStream: boolean) {
    this.#events = isStream ? new EventReader() : null
  }

  read(text: string): void {
    if (this.#events === null) {
      this.#document += text
      return
    }
    for (const data of this.#events.read(text.replaceAll('\r\n', '\n'))) if (data !== '[DONE]') this.#take(data)
  }

  /** The answer so far. Call it for a document only when the document is complete. */
  answer(): ChatAnswer {
    if (this.#document !== '') {
      this.#take(this.#document)
      this.#document = ''
    }
    return {
      text: this.#text,
      calls: this.#calls.filter(({ name }) => name !== ''),
      model: this.#model,
      finish: this.#finish,
      usage: this.#usage,
      error: this.#error,
    }
  }

  #take(data: string): void {
    const chunk = parsed(data)
    if (chunk === null) return
    const { model, usage, error, choices } = chunk
    if (typeof model === 'string' && model !== '') this.#model = model
    if (isObject(usage))
      this.#usage = { input: count(usage['prompt_tokens']), output: count(usage['completion_tokens']) }
    if (isObject(error))
      this.#error = typeof error['message'] === 'string' ? error['message'] : 'The stream ended with an error'
    const choice = Array.isArray(choices) ? (choices[0] as unknown) : undefined
    if (!isObject(choice)) return
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason']
    const part = choice['delta'] ?? choice['message']
    if (!isObject(part)) return
    if (typeof part['content'] === 'string') this.#text += part['content']
    const calls = Array.isArray(part['tool_calls']) ? (part['tool_calls'] as unknown[]) : []
    calls.forEach((call, at) => isObject(call) && this.#takeCall(call, at))
  }

  /** Pieces of one call have its number. */
  #takeCall(call: Record<string, unknown>, at: number): void {
    const index = typeof call['index'] === 'number' ? call['index'] : at
    if (index < 0 || index >= MAX_CALLS) return
    while (this.#calls.length <= index) this.#calls.push({ id: '', name: '', arguments: '' })
    const known = this.#calls[index]
    const named = isObject(call['function']) ? call['function'] : {}
    if (known === undefined) return
    if (typeof call['id'] === 'string' && call['id'] !== '') known.id = call['id']
    if (typeof named['name'] === 'string') known.name += named['name']
    if (typeof named['arguments'] === 'string') known.arguments += named['arguments']
  }
}

function parsed(data: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

const MAX_CALLS = 32
