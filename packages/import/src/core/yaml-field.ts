import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml'
import type { ReportEntry, Verdict } from './report.ts'
import { checkSize, MOST_DEPTH, MOST_NODES, SourceError, type SourcePosition, type SourceText } from './source.ts'

/** The verdict of an importer on one field; it holds for everything below the field too. */
interface FieldNote {
  readonly verdict: Verdict
  readonly note: string
  readonly isProtection: boolean
}

/** A value of a YAML source. Each importer marks what it has read, and `reportOf` lists the rest. */
export class Field {
  /** `model_list[0].litellm_params.model`; empty for the whole file. */
  readonly path: string
  readonly at: SourcePosition
  /** The plain value of a scalar; undefined for mappings and lists. */
  readonly scalar: string | number | boolean | null | undefined
  readonly #members: ReadonlyMap<string, Field> | null
  readonly #items: readonly Field[]
  #mark: FieldNote | null = null

  constructor(
    path: string,
    at: SourcePosition,
    content: {
      scalar?: Field['scalar']
      members?: ReadonlyMap<string, Field>
      items?: readonly Field[]
    },
  ) {
    this.path = path
    this.at = at
    this.scalar = content.scalar
    this.#members = content.members ?? null
    this.#items = content.items ?? []
  }

  /** A member of a mapping; null when it is absent or has no value. */
  get(name: string): Field | null {
    const field = this.#members?.get(name)
    return field === undefined || field.scalar === null ? null : field
  }

  get isMapping(): boolean {
    return this.#members !== null
  }

  get members(): readonly (readonly [string, Field])[] {
    return [...(this.#members ?? [])]
  }

  get items(): readonly Field[] {
    return this.#items
  }

  /**
   * Returns a field at the same position with the given members only. Verdicts set on these members are set on the
   * original fields.
   */
  part(members: ReadonlyMap<string, Field>): Field {
    return new Field(this.path, this.at, { members })
  }

  /** The text of a scalar; null for other values. */
  get text(): string | null {
    return this.scalar === undefined || this.scalar === null ? null : String(this.scalar)
  }

  /** The number of a scalar, also of a quoted one; null for other values. */
  get number(): number | null {
    const text = this.text
    return text === null || typeof this.scalar === 'boolean' || !/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(text)
      ? null
      : Number(text)
  }

  get isTrue(): boolean {
    return this.scalar === true || (typeof this.scalar === 'string' && /^true$/i.test(this.scalar))
  }

  /** The value as JSON. */
  get plain(): unknown {
    if (this.#members !== null)
      return Object.fromEntries([...this.#members].map(([name, field]) => [name, field.plain]))
    return this.scalar === undefined ? this.#items.map((item) => item.plain) : this.scalar
  }

  carried(note = ''): void {
    this.#setMark({ verdict: 'carried', note, isProtection: false })
  }

  changed(note: string, isProtection = false): void {
    this.#setMark({ verdict: 'changed', note, isProtection })
  }

  notCarried(note: string, isProtection = false): void {
    this.#setMark({ verdict: 'not carried', note, isProtection })
  }

  /** Says why the field is not carried, if no importer has read the field. */
  noteUnread(note: string): void {
    if (!this.#hasMarks()) this.notCarried(note)
  }

  /** The mark takes the place of those of the fields below. */
  #setMark(mark: FieldNote | null): void {
    this.#mark = mark
    for (const child of this.#children) child.#setMark(null)
  }

  /** An entry for each marked field, and for each field that no importer has read. */
  reportOf(): ReportEntry[] {
    const entries: ReportEntry[] = []
    this.#report(entries)
    return entries
  }

  /**
   * Appends a note to the verdicts of all fields at and below this field that are not carried, and marks them as
   * protection if `isProtection` is true. Returns whether there is such a field.
   */
  amendLosses(note: string, isProtection: boolean): boolean {
    const isOwn = this.#mark !== null || !this.#hasMarks()
    const mark = this.#mark ?? this.#unread()
    const isLost = isOwn && mark.verdict === 'not carried'
    const whole = mark.note.endsWith(note) ? mark.note : `${mark.note}; ${note}`
    if (isLost) this.#mark = { ...mark, note: whole, isProtection: mark.isProtection || isProtection }
    const below = this.#children.filter((child) => !isOwn || child.#hasMarks())
    return below.map((child) => child.amendLosses(note, isProtection)).includes(true) || isLost
  }

  get #children(): readonly Field[] {
    return this.#members === null ? this.#items : [...this.#members.values()]
  }

  #report(entries: ReportEntry[]): void {
    const place = { at: this.at, name: this.path === '' ? 'the whole file' : this.path }
    if (this.#mark !== null) entries.push({ ...this.#mark, ...place })
    else if (!this.#hasMarks()) entries.push({ ...this.#unread(), ...place })
    for (const child of this.#children) {
      if (this.#mark === null ? this.#hasMarks() : child.#hasMarks()) child.#report(entries)
    }
  }

  #unread(): FieldNote {
    const isEmpty = this.scalar === null || (this.scalar === undefined && this.#children.length === 0)
    if (isEmpty) return { verdict: 'carried', note: 'empty', isProtection: false }
    return { verdict: 'not carried', note: 'the importer does not know this field', isProtection: false }
  }

  #hasMarks(): boolean {
    return this.#mark !== null || this.#children.some((child) => child.#hasMarks())
  }
}

/** Reads a YAML text. Throws a `SourceError` for broken, huge or deeply nested texts. */
export function readYaml(source: SourceText): Field {
  checkSize(source)
  const lines = new LineCounter()
  const locate = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(offset)
    return { file: source.name, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const document = parse(source, lines)
  const [error] = document.errors
  if (error !== undefined) throw new SourceError(locate(error.pos[0]), `broken YAML: ${error.message}`)
  const resolve = aliasResolver(document)
  let count = 0
  const build = (found: unknown, path: string, start: number | null, depth: number): Field => {
    const node = resolve(found) as Node | null | undefined
    // A member of a mapping is at its key.
    const offset = start ?? (found as Node | null)?.range?.[0] ?? 0
    const at = locate(offset)
    if (++count > MOST_NODES) throw new SourceError(at, `found more than ${MOST_NODES} values`)
    if (depth > MOST_DEPTH) throw new SourceError(at, `found more than ${MOST_DEPTH} levels`)
    if (isMap(node)) {
      const members = new Map<string, Field>()
      for (const { key, value, keyAt } of pairsOf(node.items, resolve, 0)) {
        const below = path === '' ? key : `${path}.${key}`
        members.set(key, build(value, below, keyAt, depth + 1))
      }
      return new Field(path, at, { members })
    }
    if (isSeq(node)) {
      return new Field(path, at, {
        items: node.items.map((item, index) => build(item, `${path}[${index}]`, null, depth + 1)),
      })
    }
    const value: unknown = isScalar(node) ? node.value : null
    return new Field(path, at, { scalar: isPlain(value) ? value : source.text.slice(...(node?.range ?? [0, 0])) })
  }
  return build(document.contents, '', null, 0)
}

/** Returns a function that replaces an alias by the last node before the alias that has the anchor. */
function aliasResolver(document: Document): (node: unknown) => unknown {
  let nodes: ReadonlyMap<unknown, Node | undefined> | null = null
  return (node) => {
    if (!isAlias(node)) return node
    nodes ??= nodesByAlias(document)
    return nodes.get(node)
  }
}

/**
 * The nodes of all aliases, found in one walk. `Alias.resolve` walks the document for each alias, which takes seconds for a small
 * file that repeats its aliases.
 */
function nodesByAlias(document: Document): ReadonlyMap<unknown, Node | undefined> {
  const nodeByAnchor = new Map<string, Node>()
  const found = new Map<unknown, Node | undefined>()
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) found.set(node, nodeByAnchor.get(node.source))
      else if (node.anchor !== undefined) nodeByAnchor.set(node.anchor, node)
    },
  })
  return found
}

function isPlain(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function parse({ name, text }: SourceText, lines: LineCounter) {
  try {
    return parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  } catch (error) {
    // Deep nesting exhausts the stack of the parser.
    const message = error instanceof Error ? error.message : String(error)
    throw new SourceError({ file: name, line: 1, column: 1 }, `broken YAML: ${message}`)
  }
}

interface KeyValue {
  readonly key: string
  readonly value: unknown
  readonly keyAt: number | null
}

/** The pairs of a mapping. Own keys take precedence over those of merged mappings (`<<`), and the last of equal keys counts. */
function pairsOf(items: readonly Pair[], resolve: (node: unknown) => unknown, depth: number): KeyValue[] {
  const own = new Map<string, KeyValue>()
  const merged: KeyValue[] = []
  for (const { key, value } of items) {
    const name = isScalar(key) ? String(key.value) : String(key)
    const source = resolve(value)
    if (name === '<<' && depth < 8 && (isMap(source) || isSeq(source))) {
      const maps = isMap(source) ? [source] : source.items.map(resolve).filter((item) => isMap(item))
      merged.push(...maps.flatMap((map) => pairsOf(map.items, resolve, depth + 1)))
    } else own.set(name, { key: name, value, keyAt: isScalar(key) ? (key.range?.[0] ?? null) : null })
  }
  for (const pair of merged) if (!own.has(pair.key)) own.set(pair.key, pair)
  return [...own.values()]
}
