import type { AudioPart, ChatRequest, FilePart, ImagePart, Part } from '../middle.ts'

/** The content of a request that counts as input tokens. */
interface InputContent {
  texts: string[]
  /** The estimated tokens of all other content. */
  tokens: number
}

export function readTexts({ system, messages, tools, output }: ChatRequest): InputContent {
  const found: InputContent = { texts: [], tokens: PRIMING }
  if (system.length > 0) addMessage(system, found)
  for (const { parts } of messages) addMessage(parts, found)
  for (const { name, description = '', schema } of tools) {
    found.tokens += PER_MESSAGE
    found.texts.push(name, description, JSON.stringify(schema))
  }
  if (output.kind === 'schema') found.texts.push(output.name, JSON.stringify(output.schema))
  return found
}

function addMessage(parts: readonly Part[], found: InputContent): void {
  found.tokens += PER_MESSAGE
  for (const part of parts) addPart(part, found)
}

function addPart(part: Part, found: InputContent): void {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      found.texts.push(part.text)
      return
    case 'toolCall':
      found.texts.push(part.name, part.arguments)
      return
    case 'toolResult':
      for (const each of part.parts) addPart(each, found)
      return
    case 'native':
      found.texts.push(JSON.stringify(part.value))
      return
    case 'image':
      found.tokens += imageTokens(part)
      return
    case 'audio':
      found.tokens += audioTokens(part)
      return
    case 'file':
      return addFile(part, found)
  }
}

/** The tokens of an image of 1024 by 1024 pixels. */
function imageTokens({ detail }: ImagePart): number {
  return detail === 'low' ? 85 : 765
}

/** Ten tokens per second of audio, at the usual bit rates. */
function audioTokens({ format, data }: AudioPart): number {
  return Math.ceil(bytesOf(data) / (format === 'wav' ? 4_800 : 1_600))
}

function addFile({ source }: FilePart, found: InputContent): void {
  if (source.kind !== 'data') return
  if (/^text\/|json$/.test(source.mediaType)) found.texts.push(Buffer.from(source.data, 'base64').toString('utf8'))
  else found.tokens += Math.ceil(bytesOf(source.data) / FILE_BYTES_PER_TOKEN)
}

function bytesOf(base64: string): number {
  return (base64.length * 3) / 4
}

/** In tokens: every message has delimiters and a role, and every response begins with a few tokens. */
const PER_MESSAGE = 3 + 1
const PRIMING = 3
/** For documents with pages. */
const FILE_BYTES_PER_TOKEN = 40
