import type { ProviderEdits } from '../../llm/edits/request-edits.ts'
import type { JsonBody } from '../../llm/edits/json-body.ts'
import type { ClientFormat } from '../../llm/format.ts'
import { type ChatRequest, type FormatName, type JsonObject, Unsupported } from '../../llm/middle.ts'
import { hasLargeNumber, parseExactJson } from '../../wire/exact-json.ts'
import type { MemberEdits } from '../../wire/member-edits.ts'

/** What the reading of a client's chat starts from. */
export interface ChatText {
  format: ClientFormat
  original: JsonBody
  edits: MemberEdits
  /** With the edits. */
  body: JsonObject
  model: string
  shape: ProviderEdits['shape']
}

/** A chat in the middle's terms, read when somebody first asks: where bytes pass, mostly nobody does. */
export class UnderstoodChat {
  readonly #text: ChatText
  #decoded: ChatRequest | null = null
  #fault: Unsupported | null = null
  #request: ChatRequest | null = null

  constructor(text: ChatText) {
    this.#text = text
  }

  /** As the client's body says it. */
  get decoded(): ChatRequest {
    this.#decoded ??= this.#decode()
    return this.#decoded
  }

  /** What the gateway does not understand: only a provider of the same format may get it, as it is. */
  get fault(): Unsupported | null {
    this.#decoded ??= this.#decode()
    return this.#fault
  }

  /** With what the policy adds to the conversation; the same object where that is nothing. */
  get request(): ChatRequest {
    this.#request ??= this.#text.shape?.(this.decoded) ?? this.decoded
    return this.#request
  }

  /** The same chat with other members; `body` has the edits. */
  with(edits: MemberEdits, body: JsonObject): UnderstoodChat {
    return new UnderstoodChat({ ...this.#text, edits, body })
  }

  #decode(): ChatRequest {
    const { format, original, edits, body, model } = this.#text
    const read = format.decodeRequest(edits.has('messages') ? body : withExactInputs(format, original, body))
    if (!(read instanceof Unsupported)) return read
    this.#fault = read
    return unreadRequest(format.name, body, model)
  }
}

/** All of the body as one part, so that guards look at it and it is counted. */
function unreadRequest(format: FormatName, body: JsonObject, model: string): ChatRequest {
  return {
    format,
    model,
    system: [],
    messages: [{ role: 'user', parts: [{ type: 'native', value: body }] }],
    tools: [],
    toolChoice: null,
    parallelTools: null,
    sampling: {},
    reasoning: null,
    output: { kind: 'text' },
    stream: body['stream'] === true,
    user: null,
    rest: {},
  }
}

/** Arguments of calls are objects in Messages, and long ids in them must not be rounded. */
function withExactInputs(format: ClientFormat, original: JsonBody, body: JsonObject): JsonObject {
  const { bytes } = original
  // Digits are ASCII; where there are few of them nobody has to look where each member stands.
  if (format.name !== 'messages' || !hasLargeNumber(bytes.toString('latin1'))) return body
  const member = original.members.find(({ name }) => name === 'messages')
  if (member === undefined) return body
  const messages = parseExactJson(bytes.toString('utf8', member.valueStart, member.valueEnd))
  return messages === undefined ? body : { ...body, messages }
}
