import { isUtf8 } from 'node:buffer'
import {
  countMembers,
  countNames,
  findMembers,
  isObject,
  type JsonMember,
  type JsonMembers,
  parseJson,
  type SplicedText,
} from '@portico/http/json'
import { type JsonObject, Unsupported } from '@portico/chat'

/** The body of a client: its parsed value, and the position of each top-level member in its bytes. */
export class JsonBody implements SplicedText {
  readonly bytes: Buffer
  readonly value: JsonObject
  #found: JsonMembers | null = null

  constructor(bytes: Buffer, value: JsonObject) {
    this.bytes = bytes
    this.value = value
  }

  get members(): readonly JsonMember[] {
    return this.#members().members
  }

  get open(): number {
    return this.#members().open
  }

  /** Located on first use: only edited members need their position in the bytes. */
  #members(): JsonMembers {
    this.#found ??= findMembers(this.bytes)
    if (this.#found === null) throw new Error('a JSON object without members')
    return this.#found
  }
}

/**
 * Reads a body that may be forwarded byte for byte. Bodies that the provider could parse differently from the gateway
 * are refused: bytes that are not UTF-8, and duplicate names in an object at any depth.
 */
export function readJsonBody(bytes: Buffer): JsonBody | Unsupported {
  if (!isUtf8(bytes)) return new Unsupported('body', 'must be UTF-8')
  const text = bytes.toString('utf8')
  const parsed = parseJson(text)
  if (parsed === null) return new Unsupported('body', 'must be JSON')
  const { value } = parsed
  if (!isObject(value)) return new Unsupported('body', 'must be a JSON object')
  const body = new JsonBody(bytes, value)
  return countMembers(value) === countNames(text) ? body : new Unsupported(...twiceIn(body))
}

function twiceIn({ members }: JsonBody): [field: string, message: string] {
  const names = members.map(({ name }) => name)
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  return twin === undefined ? ['body', 'has an object with one name twice'] : [twin, 'stands in the body twice']
}
