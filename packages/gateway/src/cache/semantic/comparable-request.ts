import { isUtf8 } from 'node:buffer'
import type { ChatRequest, Message } from '@portico/chat'
import { countMembers, countNames, type Json, type JsonObject, parseExactObject } from '@portico/http/json'

/** A chat as it is compared with others. */
export interface ComparableRequest {
  /** The last message, of the user: the only part that may differ. */
  readonly text: string
  /** Everything else, as JSON: it must be equal. */
  readonly rest: Buffer
}

/**
 * Splits a chat into the text of the user and the rest. Returns the reason when the chat cannot be compared. `bytes` is
 * the body for the provider: the text must stand there once and unchanged, so that all the rest is known to be equal.
 */
export function comparableRequest(chat: ChatRequest, bytes: Buffer, maxCharacters: number): ComparableRequest | string {
  const obstacle = obstacleIn(chat)
  if (obstacle !== null) return obstacle
  const text = lastText(chat.messages)
  if (text === null) return 'no-user-text'
  if (text.length > maxCharacters) return 'too-long'
  const body = parsedBody(bytes)
  if (body === null) return 'unreadable'
  const paths: Path[] = []
  collectPaths(body, { text, path: [], paths })
  const [path, ...others] = paths
  if (path === undefined || others.length > 0) return 'ambiguous-text'
  const rest = [path, withoutText(body, path), numbersIn(text)]
  return { text, rest: Buffer.from(JSON.stringify(rest)) }
}

/** Returns why an embedding of the last text does not describe the chat: it has tools, or anything but text. */
function obstacleIn({ tools, messages, webSearch, rest }: ChatRequest): string | null {
  if (tools.length > 0 || webSearch !== undefined || TOOL_MEMBERS.some((name) => isSet(rest[name]))) return 'tools'
  for (const { parts } of messages) {
    for (const { type } of parts) {
      if (type === 'toolCall' || type === 'toolResult') return 'tools'
      if (!TEXT_PARTS.has(type)) return 'media'
    }
  }
  return null
}

const TEXT_PARTS: ReadonlySet<string> = new Set(['text', 'reasoning', 'refusal'])
const TOOL_MEMBERS = ['tools', 'functions', 'web_search_options', 'mcp_servers', 'plugins'] as const

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

function lastText(messages: readonly Message[]): string | null {
  const last = messages.at(-1)
  if (last?.role !== 'user') return null
  const [part, ...others] = last.parts
  if (part?.type !== 'text' || others.length > 0 || part.text.trim() === '') return null
  return part.text
}

/** Null for bodies of which a parsed copy may not have everything. */
function parsedBody(bytes: Buffer): JsonObject | null {
  if (!isUtf8(bytes)) return null
  const text = bytes.toString('utf8')
  const body = parseExactObject(text)
  return body === null || countNames(text) !== countMembers(body) ? null : body
}

type Path = readonly (string | number)[]

function collectPaths(value: Json, search: { text: string; path: Path; paths: Path[] }): void {
  const { text, path, paths } = search
  if (value === text) paths.push(path)
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    collectPaths(member, { text, path: [...path, Array.isArray(value) ? Number(name) : name], paths })
  }
}

function withoutText(value: Json, [first, ...others]: Path): Json {
  if (first === undefined) return null
  if (Array.isArray(value)) return value.map((item, at) => (at === first ? withoutText(item, others) : item))
  const members = value as JsonObject
  return { ...members, [first]: withoutText(members[first] ?? null, others) }
}

/** Texts that differ in a number alone have almost the same embedding, and other answers. */
function numbersIn(text: string): string[] {
  return text.match(/\p{Nd}+(?:[.,:/-]\p{Nd}+)*/gu) ?? []
}
