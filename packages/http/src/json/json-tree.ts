import { parseJson } from './json.ts'

/** A JSON text with the position of every value, for editing a part of the text without changing the rest. */
export type JsonNode = ObjectNode | ListNode | TextNode | PlainNode

/** A part of a text, in characters. */
export interface TextRange {
  start: number
  /** Position after the last character. */
  end: number
}

export interface ObjectNode extends TextRange {
  kind: 'object'
  /** Members in the order of the text; a name may occur twice. */
  members: readonly JsonMemberNode[]
}

export interface JsonMemberNode {
  name: string
  value: JsonNode
}

export interface ListNode extends TextRange {
  kind: 'list'
  items: readonly JsonNode[]
}

interface TextNode extends TextRange {
  kind: 'text'
  value: string
}

/** A number, true, false or null. */
interface PlainNode extends TextRange {
  kind: 'plain'
  value: number | boolean | null
}

/** Returns null when the text is not JSON. */
export function readJsonTree(text: string): JsonNode | null {
  return parseJson(text) === null ? null : new TreeReader(text).read()
}

/** Returns the member; for a duplicate name the last member, as most parsers do. */
export function nodeAt(node: JsonNode | undefined, name: string): JsonNode | undefined {
  return node?.kind === 'object' ? node.members.findLast((member) => member.name === name)?.value : undefined
}

export function textNodeAt(node: JsonNode | undefined, name: string): string | undefined {
  const value = nodeAt(node, name)
  return value?.kind === 'text' ? value.value : undefined
}

/** Returns the number at this name. */
export function indexAt(node: JsonNode | undefined, name: string): number | undefined {
  const value = nodeAt(node, name)
  return value?.kind === 'plain' && typeof value.value === 'number' ? value.value : undefined
}

/** Replaces the JSON at these positions, which are in order and do not overlap. */
export function replaceAt(text: string, edits: readonly (TextRange & { json: string })[]): string {
  let replaced = ''
  let at = 0
  for (const { start, end, json } of edits) {
    replaced += text.slice(at, start) + json
    at = end
  }
  return replaced + text.slice(at)
}

/** Reads a text that is known to be JSON and not nested too deeply. */
class TreeReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): JsonNode {
    this.#skipSpace()
    const start = this.#at
    switch (this.#text.charAt(start)) {
      case '{':
        return { kind: 'object', members: this.#readAll('}', () => this.#member()), start, end: this.#at }
      case '[':
        return { kind: 'list', items: this.#readAll(']', () => this.read()), start, end: this.#at }
      case '"':
        return { kind: 'text', value: this.#string(), start, end: this.#at }
      default:
        return { kind: 'plain', value: this.#plain(), start, end: this.#at }
    }
  }

  #readAll<Item>(close: string, readOne: () => Item): Item[] {
    const items: Item[] = []
    this.#at++
    this.#skipSpace()
    while (this.#text[this.#at] !== close) {
      items.push(readOne())
      this.#skipSpace()
      if (this.#text[this.#at] === ',') this.#at++
      this.#skipSpace()
    }
    this.#at++
    return items
  }

  #member(): JsonMemberNode {
    const name = this.#string()
    this.#skipSpace()
    // Skips the colon.
    this.#at++
    return { name, value: this.read() }
  }

  #string(): string {
    const start = this.#at
    STRING_END.lastIndex = start + 1
    STRING_END.exec(this.#text)
    this.#at = STRING_END.lastIndex
    const inside = this.#text.slice(start + 1, this.#at - 1)
    return inside.includes('\\') ? String(JSON.parse(`"${inside}"`)) : inside
  }

  #plain(): number | boolean | null {
    const start = this.#at
    PLAIN.lastIndex = start
    PLAIN.exec(this.#text)
    this.#at = PLAIN.lastIndex
    const word = this.#text.slice(start, this.#at)
    return word === 'null' ? null : word === 'true' ? true : word === 'false' ? false : Number(word)
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }
}

const SPACE = /[ \t\r\n]*/y
const PLAIN = /[^,\]} \t\r\n]+/y
/** Each character class has a loop of its own, so the pattern cannot backtrack. */
const STRING_END = /[^"\\]*(?:\\.[^"\\]*)*"/y
