import type { ProviderEdits } from '../../../llm/edits/request-edits.ts'
import type { JsonBody } from '../../../llm/edits/json-body.ts'
import { type ChatRequest, type ClientFormat, type FormatName, type JsonObject, Unsupported } from '@portico/chat'
import { hasLargeNumber, type MemberEdits, parseExactJson } from '@portico/http/json'

/** The inputs for decoding a client's chat. */
export interface ChatText {
  format: ClientFormat
  original: JsonBody
  edits: MemberEdits
  /** The body after the edits. */
  body: JsonObject
  model: string
  shape: ProviderEdits['shape']
}

/** A chat in the middle format, decoded on first use: chats that pass unchanged mostly need no decoding. */
export class UnderstoodChat {
  readonly #text: ChatText
  #decoded: ChatRequest | null = null
  #fault: Unsupported | null = null
  #request: ChatRequest | null = null

  constructor(text: ChatText) {
    this.#text = text
  }

  /** The request as the client's body has it. */
  get decoded(): ChatRequest {
    this.#decoded ??= this.#decode()
    return this.#decoded
  }

  /**
   * The reason why the gateway does not understand the request; only a provider of the same format may then get the
   * request, unchanged.
   */
  get fault(): Unsupported | null {
    this.#decoded ??= this.#decode()
    return this.#fault
  }

  /** The request with the policy's additions to the conversation; the same object when there are none. */
  get request(): ChatRequest {
    this.#request ??= this.#text.shape?.(this.decoded) ?? this.decoded
    return this.#request
  }

  /** The same chat with other members; `body` has the edits applied. */
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

/** The whole body as one part, so that guards check it and its tokens are counted. */
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

/** Parses tool arguments, which are objects in Messages, without rounding long ids. */
function withExactInputs(format: ClientFormat, original: JsonBody, body: JsonObject): JsonObject {
  const { bytes } = original
  // Digits are ASCII, so this cheap test avoids locating the members in most bodies.
  if (format.name !== 'messages' || !hasLargeNumber(bytes.toString('latin1'))) return body
  const member = original.members.find(({ name }) => name === 'messages')
  if (member === undefined) return body
  const messages = parseExactJson(bytes.toString('utf8', member.valueStart, member.valueEnd))
  return messages === undefined ? body : { ...body, messages }
}
