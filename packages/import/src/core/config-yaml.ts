import { Document, isMap, isPair, isScalar, isSeq, type Node, Scalar } from 'yaml'

/** A value that the gateway takes from its environment: `${NAME}`. */
export class Variable {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A text in which the gateway replaces variables. Literal parts must come from `literalPart`. */
export class Template {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Escapes the literal part of a template, so that the gateway replaces nothing in it. */
export function literalPart(text: string): string {
  return text.replaceAll('${', () => '$${')
}

const COMMENT = Symbol('comment')

/** An item of a list with a comment above it in the printed YAML. */
export function commented<Value extends object>(value: Value, comment: string): Value {
  return { ...value, [COMMENT]: comment }
}

/** The mapping without members that are undefined. */
export function withoutAbsent<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value
}

const WIDTH = 100

/** Prints a config; `${` in literal texts is escaped. Short mappings stand on one line. */
export function printConfig(value: object, header: string): string {
  return print(escapeAll(value), header)
}

/** Prints a file of tests, in which nothing is filled in. */
export function printTests(value: object, header: string): string {
  return print(value, header)
}

function print(value: object, header: string): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  addComments(document.contents, value)
  if (document.contents !== null) shorten(document.contents, 0)
  document.commentBefore = null
  const text = document.toString({ lineWidth: 0, indentSeq: false, flowCollectionPadding: true })
  return `${header
    .split('\n')
    .map((line) => (line === '' ? '#' : `# ${line}`))
    .join('\n')}\n${text}`
}

/** `${NAME}`, unquoted, so that a port stays a number. */
function variableNode({ name }: Variable): Scalar {
  const node = new Scalar(`\${${name}}`)
  node.type = Scalar.PLAIN
  return node
}

function escapeAll(value: unknown): object {
  const escape = (found: unknown): unknown => {
    if (typeof found === 'string') return literalPart(found)
    if (found instanceof Template) return found.text
    if (Array.isArray(found)) return found.map(escape)
    if (typeof found !== 'object' || found === null) return found
    if (found instanceof Variable) return variableNode(found)
    const copy = Object.fromEntries(Object.entries(found).map(([key, member]) => [key, escape(member)]))
    return COMMENT in found ? { ...copy, [COMMENT]: found[COMMENT] } : copy
  }
  return escape(value) as object
}

function addComments(node: unknown, value: unknown): void {
  if (Array.isArray(value) && isSeq(node)) {
    for (const [index, item] of value.entries()) addTo(node.items[index], item)
  } else if (typeof value === 'object' && value !== null && isMap(node)) {
    for (const [index, member] of Object.values(value).entries()) {
      const pair = node.items[index]
      if (!isPair(pair)) continue
      addComments(pair.value, member)
    }
  }
}

function addTo(node: unknown, item: unknown): void {
  if (hasComment(item)) (node as Node).commentBefore = indented(item[COMMENT])
  addComments(node, item)
}

function hasComment(value: unknown): value is { [COMMENT]: string } {
  return typeof value === 'object' && value !== null && COMMENT in value
}

function indented(comment: string): string {
  return comment
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n')
}

/** Writes a short collection on one line; returns its length, or null when it needs several lines. */
function shorten(node: unknown, depth: number): number | null {
  if (isScalar(node)) {
    const text = String(node.value)
    if (text.includes('\n')) return null
    // A plain `${NAME}` is not valid within braces.
    return node.type === Scalar.PLAIN && /[{}]/.test(text) ? null : text.length + 2
  }
  if (!isMap(node) && !isSeq(node)) return 4
  let length: number | null = 4
  for (const item of node.items) {
    const part = isPair(item) ? (item.value as Node) : item
    const key = isPair(item) ? item.key : null
    const size = shorten(part, depth + 1)
    if (isSeq(node) && !isScalar(part)) length = null
    const hasOwnComment = typeof (part as Node | null)?.commentBefore === 'string'
    length =
      length === null || size === null || hasOwnComment
        ? null
        : length + size + (isScalar(key) ? String(key.value).length + 4 : 2)
  }
  if (length === null || length + depth * 2 > WIDTH || depth < 2) return node.items.length === 0 ? 2 : null
  node.flow = true
  return length
}
