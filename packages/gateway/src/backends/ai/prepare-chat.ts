import type { HeaderBlock } from '../../net/header-block.ts'
import type { JsonBody } from '../../llm/edits/json-body.ts'
import { applyEdits, joinEdits, type MemberEdits, NO_EDITS } from '../../wire/member-edits.ts'
import { namesModel } from '../../llm/edits/request-edits.ts'
import { modelInPath } from '../../llm/edits/request-path.ts'
import { asksForUsage, completionsEdits } from '../../llm/edits/native-edits.ts'
import { hasLargeNumber, parseExactObject } from '../../wire/exact-json.ts'
import { spliceJson } from '../../wire/splice-json.ts'
import type { ClientFormat, EncodeTarget, UpstreamFormat } from '../../llm/format.ts'
import {
  type ChatRequest,
  type FormatName,
  type Json,
  type JsonObject,
  type Loss,
  Unsupported,
} from '../../llm/middle.ts'
import { passesThrough, pickFormat } from '../../llm/passes-through.ts'
import type { Provider, ProviderCall } from '../../llm/providers/provider.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
import { targetPath } from '../../pipeline/route/target.ts'
import type { ReadyProvider } from './provider.ts'
import { UnderstoodChat } from './understood-chat.ts'

/** A client's chat request as it was read. */
export interface ClientChat {
  format: ClientFormat
  body: JsonBody
  /** Path and query. */
  target: string
  headers: HeaderBlock
}

/** The same with the edits of one provider's policy. */
export interface EditedChat {
  chat: ClientChat
  vendor: Provider
  edits: MemberEdits
  body: JsonObject
  understood: UnderstoodChat
  /** The provider may get it as it is, and nobody has to look at it before. */
  isPlain: boolean
  upstream: UpstreamFormat
  call: ProviderCall
}

/** The body for guards: numbers that a double cannot hold keep their digits. */
export function exactBody({ chat, edits, body }: EditedChat): JsonObject {
  const { bytes } = chat.body
  if (!hasLargeNumber(bytes.toString('latin1'))) return body
  const exact = parseExactObject(bytes.toString('utf8'))
  return exact === null ? body : applyEdits(exact, edits)
}

/** The same chat with the texts that guards have masked: members without a mask keep their bytes. */
export function maskedChat(edited: EditedChat, before: JsonObject, after: JsonObject): EditedChat {
  if (before === after) return edited
  const masks = new Map<string, Json | undefined>()
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) masks.set(name, undefined)
  for (const [name, value] of Object.entries(after)) if (before[name] !== value) masks.set(name, value)
  const edits = joinEdits(edited.edits, masks)
  return { ...edited, edits, body: after, isPlain: false, understood: edited.understood.with(edits, after) }
}

/** The same, as the provider gets it. */
export interface PreparedChat extends Pick<EditedChat, 'upstream' | 'call'> {
  /** What was asked, in the middle's terms; read when somebody wants to know. */
  asked: { readonly request: ChatRequest }
  /** The client's own bytes go on, but for members that edits changed. */
  isNative: boolean
  /** The client gets what the provider says as it says it, but for what guards mask. */
  answersAsIs: boolean
  /** The provider reports usage in a record that the client did not ask for. */
  hidesUsage: boolean
  bytes: Buffer
  /** What the bytes say; never read, but its shape, and the code for it, lives as long as it does. */
  encoded: JsonObject
  toolNames: Map<string, string>
  losses: Loss[]
}

/** What the policy of the provider makes of the request, still in the client's terms. */
export function editChat(
  chat: ClientChat,
  { vendor, edits: policy, guards }: Pick<ReadyProvider, 'vendor' | 'edits' | 'guards'>,
  parts: { upstreamFormats: Readonly<Record<FormatName, UpstreamFormat>>; rx: RequestContext },
): EditedChat | Unsupported {
  const { format, body: original, target } = chat
  // The path says it for clients that say it nowhere else.
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

/** Translates where the provider speaks another format, or the conversation was changed; else the client's bytes go on. */
export function prepareChat(edited: EditedChat): PreparedChat | Unsupported {
  const { chat, vendor, edits, body, understood, upstream, call } = edited
  const quirks = vendor.quirks(call.model, upstream.name)
  // A client of the provider's own format reads its answers, whatever was done to the request.
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
