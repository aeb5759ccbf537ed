import { isAscii, isUtf8 } from 'node:buffer'
import { type Json, type JsonObject, UnsupportedField } from '@portico/chat'
import type { PartHead } from '@portico/http/multipart'

/** The text fields of a form, and the rules that keep every server from reading them in another way. */
export class FormFields {
  readonly #files: ReadonlySet<string>
  readonly #values = new Map<string, Json>()
  /** The names of all parts, files too, as they are spelled. */
  readonly #spellings = new Map<string, string>()
  #size = 0

  /** `files` are the names of the parts whose content is not read. */
  constructor(files: ReadonlySet<string>) {
    this.#files = files
  }

  /** Whether the content of the part passes without being read. */
  isFile({ name }: PartHead): boolean {
    return this.#files.has(name)
  }

  /** Registers a part by its header; returns the problem of a part that is refused. */
  begin({ name, isFile }: PartHead): UnsupportedField | null {
    if (isFile && !this.#files.has(name)) return new UnsupportedField(name, 'must be a field of the form, not a file')
    // A field that sets the charset of the other fields.
    if (name === '_charset_') return new UnsupportedField(name, 'is not supported: fields are UTF-8')
    const key = keyOf(name)
    const before = this.#spellings.get(key)
    if (before !== undefined && before === name && !LIST.test(name)) {
      return new UnsupportedField(name, 'occurs twice in the form')
    }
    const mustBe = SCALARS.has(key) || [...this.#files].some((file) => keyOf(file) === key && !this.#files.has(name))
    if (mustBe && name !== key) return new UnsupportedField(name, `must be spelled ${key}`)
    if (before !== undefined && before !== name && !(isNested(before) && isNested(name))) {
      return new UnsupportedField(name, `occurs in the form as ${before} too`)
    }
    this.#spellings.set(key, name)
    return null
  }

  /** Adds a text field; returns the problem of a field that is refused. */
  add({ name, contentType }: PartHead, bytes: Buffer): UnsupportedField | null {
    this.#size += bytes.length + name.length
    if (this.#size > MAX_FIELDS) return new UnsupportedField(name, `is too long: fields may have ${MAX_FIELDS} bytes`)
    if (!isUtf8(bytes) || !(isAscii(bytes) || isUtf8Type(contentType))) {
      return new UnsupportedField(name, 'must be UTF-8')
    }
    const value = bytes.toString('utf8')
    if (!LIST.test(name)) {
      this.#values.set(name, typedValue(name, value))
      return null
    }
    const base = nameOfField(name)
    const list = this.#values.get(base)
    this.#values.set(base, Array.isArray(list) ? [...list, value] : [value])
    return null
  }

  /** The fields as JSON, for edits, guards and expressions: `name[]` is the list `name`. */
  json(): JsonObject {
    return Object.fromEntries(this.#values)
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }
}

/** The name of a field in the JSON of the form. */
export function nameOfField(name: string): string {
  return LIST.test(name) ? name.slice(0, -'[]'.length) : name
}

/** The parts that express a JSON value as a field: their names and texts; null for a value that no field can have. */
export function fieldsOf(name: string, value: Json | undefined): (readonly [name: string, text: string])[] | null {
  if (value === undefined || value === null) return []
  if (!NAME.test(name)) return null
  if (Array.isArray(value)) {
    const texts = value.map(textOf)
    return texts.includes(null) ? null : texts.map((text) => [`${name}[]`, text ?? ''])
  }
  const text = textOf(value)
  return text === null ? null : [[name, text]]
}

function textOf(value: Json): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

/** The name that servers with other rules may take a name for: without case, and without what is in brackets. */
function keyOf(name: string): string {
  const bracket = name.indexOf('[')
  return (bracket === -1 ? name : name.slice(0, bracket)).toLowerCase()
}

/** Whether a name has brackets with a member in them, such as `chunking_strategy[type]`. */
function isNested(name: string): boolean {
  return /\[[^\]]+\]/.test(name)
}

/** The charset of a text that is not ASCII. */
function isUtf8Type(contentType: string | null): boolean {
  const charset = contentType === null ? null : /charset\s*=\s*"?([^";\s]+)/i.exec(contentType)
  return charset === null || /^utf-?8$/i.test(charset[1] ?? '')
}

/** Numbers and booleans as JSON requests have them. */
function typedValue(name: string, text: string): Json {
  if (BOOLEANS.has(name)) return text === 'true' ? true : text === 'false' ? false : text
  return NUMBERS.has(name) && /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text
}

/** Fields that may occur several times. */
const LIST = /\[\]$/
/** Names that a form can have without quoting. */
const NAME = /^[\w.[\]-]{1,200}$/
/** Fields that decide about the call: one text, whatever a server reads into other spellings of their names. */
const SCALARS: ReadonlySet<string> = new Set(['model', 'prompt', 'stream', 'response_format', 'n', 'language'])
const BOOLEANS: ReadonlySet<string> = new Set(['stream'])
const NUMBERS: ReadonlySet<string> = new Set(['n', 'temperature', 'partial_images', 'output_compression'])
/** All text fields together, with their names, in bytes. */
const MAX_FIELDS = 1024 * 1024
