import type { HeaderBlock } from '@portico/http'
import type { JsonBody } from '../../../llm/edits/json-body.ts'
import {
  applyEdits,
  hasLargeNumber,
  joinEdits,
  type MemberEdits,
  NO_EDITS,
  parseExactObject,
  spliceJson,
} from '@portico/http/json'
import { namesModel } from '../../../llm/edits/request-edits.ts'
import { modelInPath } from '../../../llm/edits/request-path.ts'
import { asksForUsage, completionsEdits } from '../../../llm/edits/native-edits.ts'
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
  Unsupported,
  type UpstreamFormat,
} from '@portico/chat'
import type { Provider, ProviderCall } from '../../../llm/providers/provider.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { targetPath } from '../../../pipeline/route/target.ts'
import type { ReadyProvider } from '../provider.ts'
import { UnderstoodChat } from './understood-chat.ts'

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
  return exact === null ? body : applyEdits(exact, edits)
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
  asked: { readonly request: ChatRequest }
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
): EditedChat | Unsupported {
  const { format, body: original, target } = chat
  // The path names the model for clients that name the model nowhere else.
  const pathModel = namesModel(original.value) ? null : modelInPath(targetPath(target))
  const { edits, body, model } = policy.request(original.value, pathModel, parts.rx)
  if (model === '') return new Unsupported('model', 'missing field: model not specified')
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
export function prepareChat(edited: EditedChat): PreparedChat | Unsupported {
  const { chat, vendor, edits, body, understood, upstream, call } = edited
  const quirks = vendor.quirks(call.model, upstream.name)
  // A client of the provider's own format can read the provider's responses, whatever edits the request had.
  const answersAsIs = upstream.name === chat.format.name
  const hidesUsage = chat.format.name === 'completions' && call.stream && !asksForUsage(chat.body.value)
  const asked = understood
  const isNative = answersAsIs && (edited.isPlain || passesAsIs(edited, asked.request, quirks))
  const target: EncodeTarget = { model: call.model, quirks, toolNames: new Map() }
  const losses: Loss[] = []
  const { toolNames } = target
  if (isNative) {
    const needed = upstream.name === 'completions' ? completionsEdits(body, quirks) : NO_EDITS
    const all = joinEdits(edits, needed)
    const encoded = applyEdits(chat.body.value, all)
    const finished = vendor.finishBody(encoded, call, chat.headers)
    const bytes = spliceJson(chat.body, joinEdits(all, finished))
    return { asked, upstream, call, isNative, answersAsIs, hidesUsage, toolNames, losses, bytes, encoded }
  }
  if (understood.fault !== null) return understood.fault
  const encoded = upstream.encodeRequest(asked.request, target, losses)
  if (encoded instanceof Unsupported) return encoded
  const finished = applyEdits(encoded, vendor.finishBody(encoded, call, chat.headers))
  const bytes = Buffer.from(JSON.stringify(finished))
  return { asked, upstream, call, isNative, answersAsIs, hidesUsage, toolNames, losses, bytes, encoded: finished }
}

function passesAsIs({ understood }: EditedChat, request: ChatRequest, quirks: ReadonlySet<string>): boolean {
  return request === understood.decoded && passesThrough(request, quirks)
}
