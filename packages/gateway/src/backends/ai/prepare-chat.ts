import type { HeaderBlock } from '../../net/header-block.ts'
import type { JsonBody } from '../../llm/edits/json-body.ts'
import { applyEdits, joinEdits, type MemberEdits, NO_EDITS } from '../../wire/member-edits.ts'
import { modelInPath } from '../../llm/edits/request-path.ts'
import { asksForUsage, completionsEdits } from '../../llm/edits/native-edits.ts'
import { spliceJson } from '../../wire/splice-json.ts'
import { hasLargeNumber, parseExactJson } from '../../wire/exact-json.ts'
import type { ClientFormat, EncodeTarget, UpstreamFormat } from '../../llm/format.ts'
import { type ChatRequest, type FormatName, type JsonObject, type Loss, Unsupported } from '../../llm/middle.ts'
import { passesThrough, pickFormat } from '../../llm/passes-through.ts'
import type { Provider, ProviderCall } from '../../llm/providers/provider.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
import { targetPath } from '../../pipeline/route/target.ts'
import type { ReadyProvider } from './provider.ts'

/** A client's chat request as it was read. */
export interface ClientChat {
  format: ClientFormat
  body: JsonBody
  /** Path and query. */
  target: string
  headers: HeaderBlock
}

/** The same with the edits of one provider's policy, understood. */
export interface EditedChat {
  chat: ClientChat
  vendor: Provider
  edits: MemberEdits
  body: JsonObject
  /** As the client's body says it. */
  decoded: ChatRequest
  /** What the gateway does not understand: only a provider of the same format may get it, as it is. */
  fault: Unsupported | null
  /** With what the policy adds to the conversation; the same object where that is nothing. */
  request: ChatRequest
  upstream: UpstreamFormat
  call: ProviderCall
}

/** The same, as the provider gets it. */
export interface PreparedChat extends Pick<EditedChat, 'request' | 'upstream' | 'call'> {
  /** The client's own bytes go on, but for members that edits changed. */
  isNative: boolean
  /** The client gets what the provider says as it says it, but for what guards mask. */
  answersAsIs: boolean
  /** The provider reports usage in a record that the client did not ask for. */
  hidesUsage: boolean
  bytes: Buffer
  toolNames: Map<string, string>
  losses: Loss[]
}

/** What the policy of the provider makes of the request, still in the client's terms. */
export function editChat(
  chat: ClientChat,
  { vendor, edits: policy }: Pick<ReadyProvider, 'vendor' | 'edits'>,
  parts: { upstreamFormats: Readonly<Record<FormatName, UpstreamFormat>>; rx: RequestContext },
): EditedChat | Unsupported {
  const { edits, body, model } = policy.request(chat.body.value, modelInPath(targetPath(chat.target)), parts.rx)
  if (model === '') return new Unsupported('model', 'missing field: model not specified')
  const read = chat.format.decodeRequest(edits.has('messages') ? body : withExactInputs(chat, body))
  const fault = read instanceof Unsupported ? read : null
  const decoded = read instanceof Unsupported ? unreadRequest(chat.format.name, body, model) : read
  const upstream = parts.upstreamFormats[pickFormat(chat.format.name, vendor.chatFormats(model))]
  if (fault !== null && upstream.name !== chat.format.name) return fault
  const request = policy.shape(decoded)
  const clientTarget = chat.target
  const call: ProviderCall = { kind: 'chat', format: upstream.name, model, stream: request.stream, clientTarget }
  return { chat, vendor, edits, body, decoded, fault, request, upstream, call }
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
function withExactInputs({ format, body: { bytes, members } }: ClientChat, body: JsonObject): JsonObject {
  const member = format.name === 'messages' ? members.find(({ name }) => name === 'messages') : undefined
  if (member === undefined) return body
  const text = bytes.toString('utf8', member.valueStart, member.valueEnd)
  const messages = hasLargeNumber(text) ? parseExactJson(text) : undefined
  return messages === undefined ? body : { ...body, messages }
}

/** Translates where the provider speaks another format, or the conversation was changed; else the client's bytes go on. */
export function prepareChat(edited: EditedChat, request: ChatRequest): PreparedChat | Unsupported {
  const { chat, vendor, edits, body, decoded, fault, upstream, call } = edited
  const quirks = vendor.quirks(call.model, upstream.name)
  const target: EncodeTarget = { model: call.model, quirks, toolNames: new Map() }
  const losses: Loss[] = []
  // A client of the provider's own format reads its answers, whatever was done to the request.
  const answersAsIs = upstream.name === chat.format.name
  const isNative = answersAsIs && request === decoded && passesThrough(decoded, quirks)
  const hidesUsage = chat.format.name === 'completions' && call.stream && !asksForUsage(chat.body.value)
  const common = { request, upstream, call, isNative, answersAsIs, hidesUsage, toolNames: target.toolNames, losses }
  if (isNative) {
    const needed = upstream.name === 'completions' ? completionsEdits(body, quirks) : NO_EDITS
    const all = joinEdits(edits, needed)
    const finished = vendor.finishBody(applyEdits(chat.body.value, all), call, chat.headers)
    return { ...common, bytes: spliceJson(chat.body, joinEdits(all, finished)) }
  }
  if (fault !== null) return fault
  const encoded = upstream.encodeRequest(request, target, losses)
  if (encoded instanceof Unsupported) return encoded
  const finished = applyEdits(encoded, vendor.finishBody(encoded, call, chat.headers))
  return { ...common, bytes: Buffer.from(JSON.stringify(finished)) }
}
