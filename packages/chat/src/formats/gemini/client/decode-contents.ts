import type { Json, JsonObject, Message, Part, TextPart, ToolResultPart } from '../../../middle.ts'
import { type Fields, withRest } from '../../../request/fields.ts'
import { blockFates } from '../../../translate/block-fates.ts'
import { CallIds } from './call-ids.ts'
import { decodeFileData, decodeInlineData } from './decode-media.ts'
import { fromThoughtSignature, type SignatureContent } from './signatures.ts'
import { objectIn, objectsIn } from './spelling.ts'

/** `systemInstruction`: a content whose parts are texts. */
export function decodeSystem(fields: Fields): TextPart[] {
  const value = fields.raw.systemInstruction
  if (typeof value === 'string') {
    fields.take('systemInstruction')
    return [{ type: 'text', text: value }]
  }
  const instruction = objectIn(fields, 'systemInstruction')
  if (instruction === undefined) return []
  return objectsIn(instruction, 'parts').map((part): TextPart => {
    const text = part.text('text') ?? part.fail('text', 'a text') ?? ''
    return withRest({ type: 'text', text }, part)
  })
}

export function decodeContents(fields: Fields): Message[] {
  if (fields.raw.contents === undefined) fields.fail('contents', 'a list')
  const calls = new CallIds()
  const messages: Message[] = []
  for (const content of objectsIn(fields, 'contents')) {
    const message = decodeContent(content, calls)
    const last = messages.at(-1)
    if (last === undefined || !continues(message, last)) messages.push(message)
    else messages[messages.length - 1] = joined(last, message)
  }
  return messages
}

function decodeContent(content: Fields, calls: CallIds): Message {
  const role = content.text('role') ?? 'user'
  const isModel = role === 'model'
  if (!isModel && role !== 'user' && role !== 'function') content.fail('role', 'user or model')
  const parts = objectsIn(content, 'parts').flatMap((part) => decodePart(part, calls))
  const message: Message = { role: isModel ? 'assistant' : 'user', parts: isModel ? joinPieces(parts) : parts }
  return { ...withRest(message, content), native: [content.raw] }
}

/** Whether a message is the next piece of a streamed response, which clients keep as a content of its own. */
function continues(message: Message, last: Message): boolean {
  return message.role === 'assistant' && last.role === 'assistant' && message.rest === undefined
}

function joined(last: Message, next: Message): Message {
  const parts = joinPieces([...last.parts, ...next.parts])
  return { ...last, parts, native: [...(last.native ?? []), ...(next.native ?? [])] }
}

/** A text with a signature comes after a thought, which is what the signature is for. */
function decodePart(part: Fields, calls: CallIds): Part[] {
  const packed = part.text('thoughtSignature')
  const held: SignatureContent = packed === undefined ? {} : fromThoughtSignature(packed)
  const { isUnsigned, ...sealed } = held
  const isThought = part.boolean('thought') ?? false
  if (part.raw.functionCall !== undefined) {
    const { signature } = sealed
    const mark = { ...(signature !== undefined && { signature }), ...(isUnsigned && { isUnsigned }) }
    return [{ ...decodeCall(part, calls), ...mark }]
  }
  const before: Part[] = packed === undefined || isUnsigned ? [] : [{ type: 'reasoning', text: '', ...sealed }]
  const text = part.text('text')
  if (text !== undefined && isThought) return [{ type: 'reasoning', text, ...sealed }]
  if (text !== undefined) {
    const said: Part = withRest({ type: 'text', text }, part)
    return text === '' && before.length > 0 ? before : [...before, said]
  }
  return [...before, decodeOther(part, calls)]
}

function decodeOther(part: Fields, calls: CallIds): Part {
  const blob = objectIn(part, 'inlineData')
  if (blob !== undefined) return extended(decodeInlineData(blob), part, blob)
  const file = objectIn(part, 'fileData')
  if (file !== undefined) return extended(decodeFileData(file), part, file)
  const response = objectIn(part, 'functionResponse')
  if (response !== undefined) return extended(decodeResult(response, calls), part, response)
  const kind = Object.keys(part.raw).find((name) => Object.hasOwn(blockFates.gemini, name)) ?? ''
  return { type: 'native', value: { type: kind, ...part.raw } }
}

function decodeCall(part: Fields, calls: CallIds): Extract<Part, { type: 'toolCall' }> {
  const call = objectIn(part, 'functionCall')
  const name = call?.text('name') ?? ''
  const given = call?.object('args')
  const id = calls.open(name, call?.text('id'))
  const made = { type: 'toolCall', id, name, arguments: given === undefined ? '' : JSON.stringify(given) } as const
  return extended(made, part, ...(call === undefined ? [] : [call]))
}

/** The part with the members of its objects that no call took. */
function extended<T extends Part>(part: T, ...objects: readonly Fields[]): T {
  const rest: JsonObject = {}
  for (const object of objects) Object.assign(rest, object.rest())
  return Object.keys(rest).length === 0 ? part : { ...part, rest }
}

function decodeResult(response: Fields, calls: CallIds): ToolResultPart {
  const name = response.text('name') ?? ''
  const given = response.object('response') ?? {}
  const found = calls.close(name, response.text('id'))
  if (found === null) response.failWith('name', 'must be that of a function call in the conversation')
  const { text, isError } = resultText(given)
  const media = objectsIn(response, 'parts').flatMap((part) => decodeResultMedia(part))
  const parts: ToolResultPart['parts'] = [{ type: 'text', text }, ...media]
  return { type: 'toolResult', id: found ?? '', name, parts, isError }
}

function decodeResultMedia(part: Fields): ToolResultPart['parts'] {
  const blob = objectIn(part, 'inlineData')
  const file = objectIn(part, 'fileData')
  const media = blob !== undefined ? decodeInlineData(blob) : file === undefined ? null : decodeFileData(file)
  if (media === null || media.type === 'audio')
    return [{ type: 'native', value: { type: 'functionResponse', ...part.raw } }]
  return [media]
}

/** The result as text. Google gives the members `output` and `error` a meaning; any other object is the result itself. */
function resultText(response: JsonObject): { text: string; isError: boolean } {
  const [[name, value] = ['', null], ...others] = Object.entries(response)
  const isAlone = others.length === 0
  if (isAlone && name === 'error') return { text: textOf(value), isError: true }
  return { text: textOf(isAlone && name === 'output' ? value : response), isError: false }
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Joins the pieces of a streamed response, which clients send back as they came. */
function joinPieces(parts: readonly Part[]): Part[] {
  const joined: Part[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === 'text' && last?.type === 'text' && isPlain(part) && isPlain(last)) {
      joined[joined.length - 1] = { type: 'text', text: last.text + part.text }
    } else if (part.type === 'reasoning' && last?.type === 'reasoning' && isOpen(last) && part.opaque === undefined) {
      joined[joined.length - 1] = { ...part, text: last.text + part.text }
    } else joined.push(part)
  }
  return joined
}

function isPlain({ rest }: TextPart): boolean {
  return rest === undefined
}

/** Whether no signature has ended the thought. */
function isOpen({ signature, opaque }: { signature?: string; opaque?: string }): boolean {
  return signature === undefined && opaque === undefined
}
