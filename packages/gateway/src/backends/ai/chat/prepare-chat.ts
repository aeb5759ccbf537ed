import type { HeaderBlock } from '@portico/http'
import { type JsonBody, modelInPath } from '../client-request.ts'
import { PATH_MEMBERS } from '../gemini-request.ts'
import {
  applyEdits,
  hasLargeNumber,
  joinEdits,
  type MemberEdits,
  NO_EDITS,
  parseExactObject,
  spliceJson,
  parseExactJson,
} from '@portico/http/json'
import { namesModel, asksForUsage, completionsEdits, type ProviderEdits } from '../../../llm/edits/request-edits.ts'
import {
  type ChatRequest,
  type ClientFormat,
  type EncodeTarget,
  type FormatName,
  type Json,
  type JsonObject,
  type Loss,
  passesThrough,
  pickFormat,
  UnsupportedField,
  type UpstreamFormat,
  type ResponseContext,
} from '@portico/chat'
import type { Provider, ProviderCall } from '../../../llm/providers/provider.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { targetPath } from '../../../formats/query-parameters.ts'
import type { ReadyProvider } from '../provider.ts'
import type { CallServices } from '../failover-call.ts'

/** A client's chat request, parsed. */
export interface ClientChat {
  format: ClientFormat
  body: JsonBody
  /** The path and query. */
  target: string
  headers: HeaderBlock
}

/** A chat request with the edits of one provider's policy. */
export interface EditedChat {
  chat: ClientChat
  vendor: Provider
  edits: MemberEdits
  body: JsonObject
  understood: UnderstoodChat
  /** Whether the provider can get the request unchanged, and no guard has to see it. */
  isPlain: boolean
  upstream: UpstreamFormat
  call: ProviderCall
}

/** The body for guards: numbers that a double cannot represent keep their digits. */
export function exactBody({ chat, edits, body }: EditedChat): JsonObject {
  const { bytes } = chat.body
  if (!hasLargeNumber(bytes.toString('latin1'))) return body
  const exact = parseExactObject(bytes.toString('utf8'))
  if (exact === null) return body
  // The value may have members that do not stand in the bytes, but in the path.
  return applyEdits({ ...chat.body.value, ...exact }, edits)
}

/** The chat with the texts that guards have masked; members without a mask keep their bytes. */
export function maskedChat(edited: EditedChat, before: JsonObject, after: JsonObject): EditedChat {
  if (before === after) return edited
  const masks = new Map<string, Json | undefined>()
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) masks.set(name, undefined)
  for (const [name, value] of Object.entries(after)) if (before[name] !== value) masks.set(name, value)
  const edits = joinEdits(edited.edits, masks)
  return { ...edited, edits, body: after, isPlain: false, understood: edited.understood.with(edits, after) }
}

/** A chat request as the provider gets it. */
export interface PreparedChat extends Pick<EditedChat, 'upstream' | 'call'> {
  /** The request in the middle format; decoded on first use. */
  understood: { readonly request: ChatRequest }
  /** Whether the client's bytes are forwarded, except for members that edits changed. */
  isNative: boolean
  /** Whether the client gets the provider's response in the provider's own format, changed only by guards. */
  answersAsIs: boolean
  /** Whether the usage record of the stream is withheld, because the client did not ask for it. */
  hidesUsage: boolean
  bytes: Buffer
  /** The JSON of `bytes`. It is never read: keeping it keeps V8's optimized code for its shape. */
  encoded: JsonObject
  toolNames: Map<string, string>
  losses: Loss[]
}

/** Applies the provider's policy to the request, still in the client's format. */
export function editChat(
  chat: ClientChat,
  { vendor, edits: policy, guards }: Pick<ReadyProvider, 'vendor' | 'edits' | 'guards'>,
  parts: { upstreamFormats: Readonly<Record<FormatName, UpstreamFormat>>; rx: RequestContext },
): EditedChat | UnsupportedField {
  const { format, body: original, target } = chat
  // The path names the model for clients that name the model nowhere else.
  const pathModel = namesModel(original.value) ? null : modelInPath(targetPath(target))
  const { edits, body, model } = policy.request(original.value, pathModel, parts.rx)
  if (model === '') return new UnsupportedField('model', 'missing field: model not specified')
  const upstream = parts.upstreamFormats[pickFormat(format.name, vendor.chatFormats(model))]
  const understood = new UnderstoodChat({ format, original, edits, body, model, shape: policy.shape })
  if (upstream.name !== format.name && understood.fault !== null) return understood.fault
  const isUnseen = upstream.name === format.name && policy.shape === null && guards.request === null
  const isPlain = isUnseen && (format.isPlain?.(body) ?? false)
  const stream = body.stream === true
  const call: ProviderCall = { kind: 'chat', format: upstream.name, model, stream, clientTarget: target }
  return { chat, vendor, edits, body, understood, isPlain, upstream, call }
}

/**
 * Translates when the provider speaks another format or the conversation was changed; otherwise forwards the client's
 * bytes.
 */
export function prepareChat(edited: EditedChat): PreparedChat | UnsupportedField {
  const { chat, vendor, edits, body, understood, upstream, call } = edited
  const quirks = vendor.quirks(call.model, upstream.name)
  // A client of the provider's own format can read the provider's responses, whatever edits the request had.
  const answersAsIs = upstream.name === chat.format.name
  const hidesUsage = chat.format.name === 'completions' && call.stream && !asksForUsage(chat.body.value)
  const isNative = answersAsIs && (edited.isPlain || passesAsIs(edited, understood.request, quirks))
  const target: EncodeTarget = { model: call.model, quirks, toolNames: new Map() }
  const losses: Loss[] = []
  const { toolNames } = target
  if (isNative) {
    const needed = upstream.name === 'completions' ? completionsEdits(body, quirks) : NO_EDITS
    const all = joinEdits(edits, needed)
    const encoded = applyEdits(chat.body.value, all)
    const finished = vendor.finishBody(encoded, call, chat.headers)
    const inPath = chat.format.name === 'gemini' ? PATH_MEMBERS : NO_EDITS
    const bytes = spliceJson(chat.body, joinEdits(all, finished, inPath))
    return { understood, upstream, call, isNative, answersAsIs, hidesUsage, toolNames, losses, bytes, encoded }
  }
  if (understood.fault !== null) return understood.fault
  const encoded = upstream.encodeRequest(understood.request, target, losses)
  if (encoded instanceof UnsupportedField) return encoded
  const finished = applyEdits(encoded, vendor.finishBody(encoded, call, chat.headers))
  const bytes = Buffer.from(JSON.stringify(finished))
  return { understood, upstream, call, isNative, answersAsIs, hidesUsage, toolNames, losses, bytes, encoded: finished }
}

function passesAsIs({ understood }: EditedChat, request: ChatRequest, quirks: ReadonlySet<string>): boolean {
  return request === understood.decoded && passesThrough(request, quirks)
}

/** A chat that was sent to a provider, with the context that its response is decoded and encoded in. */
export class SentChat {
  readonly prepared: PreparedChat
  readonly provider: ReadyProvider
  /** The number of providers that the call had tried when it sent the chat. */
  readonly tries: number
  readonly #chat: ClientChat
  readonly #services: CallServices
  #context: AnswerContext | null = null

  constructor(
    { prepared, provider, tries }: Pick<SentChat, 'prepared' | 'provider' | 'tries'>,
    chat: ClientChat,
    services: CallServices,
  ) {
    this.prepared = prepared
    this.provider = provider
    this.tries = tries
    this.#chat = chat
    this.#services = services
  }

  get context(): ResponseContext {
    if (this.#context !== null) return this.#context
    const { clock, newId } = this.#services
    const named = this.#chat.body.value['model']
    const now = Math.floor(clock() / 1000)
    this.#context = new AnswerContext(this.prepared, typeof named === 'string' ? named : null, now, newId)
    return this.#context
  }
}

/**
 * The facts about a request for readers and writers of its response. They are computed on demand, because most
 * responses do not need them.
 */
class AnswerContext implements ResponseContext {
  readonly now: number
  readonly newId: ResponseContext['newId']
  readonly toolNames: Map<string, string>
  readonly #understood: PreparedChat['understood']
  readonly #model: string | null

  constructor(
    { understood, toolNames }: PreparedChat,
    model: string | null,
    now: number,
    newId: ResponseContext['newId'],
  ) {
    this.now = now
    this.newId = newId
    this.toolNames = toolNames
    this.#understood = understood
    this.#model = model
  }

  get request(): ChatRequest {
    return this.#understood.request
  }

  get model(): string {
    return this.#model ?? this.request.model
  }
}

/** The inputs for decoding a client's chat. */
interface ChatText {
  format: ClientFormat
  original: JsonBody
  edits: MemberEdits
  /** The body after the edits. */
  body: JsonObject
  model: string
  shape: ProviderEdits['shape']
}

/** A chat in the middle format, decoded on first use: chats that pass unchanged mostly need no decoding. */
class UnderstoodChat {
  readonly #text: ChatText
  #decoded: ChatRequest | null = null
  #fault: UnsupportedField | null = null
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
  get fault(): UnsupportedField | null {
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
    const read = format.decodeRequest(withExactInputs(format, { original, edits, body }))
    if (!(read instanceof UnsupportedField)) return read
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

/** Parses tool arguments, which are objects in these formats, without rounding long ids. */
function withExactInputs(
  { name }: ClientFormat,
  { original, edits, body }: Pick<ChatText, 'original' | 'edits' | 'body'>,
): JsonObject {
  const inputs = INPUTS[name]
  // Digits are ASCII, so this cheap test avoids locating the members in most bodies.
  if (inputs === undefined || edits.has(inputs) || !hasLargeNumber(original.bytes.toString('latin1'))) return body
  const member = original.members.find((each) => each.name === inputs)
  if (member === undefined) return body
  const exact = parseExactJson(original.bytes.toString('utf8', member.valueStart, member.valueEnd))
  return exact === undefined ? body : { ...body, [inputs]: exact }
}

/** The members with the conversation. */
const INPUTS: Readonly<Partial<Record<FormatName, string>>> = { messages: 'messages', gemini: 'contents' }
