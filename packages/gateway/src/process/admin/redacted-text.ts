import { isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Scalar } from 'yaml'
import { EXPRESSION_KEYS, redact } from '../../redaction/redact.ts'
import { REDACTED } from '../../redaction/secret-names.ts'
import { nodeOf } from '../../schema/kit.ts'
import { configFile } from '../../sources/schema.ts'
import { SecretWords } from '../../redaction/secret-words.ts'
import { redactBySchema } from '../../redaction/redact-by-schema.ts'
import { type ShownComment, shownComments } from '../../redaction/redact-comments.ts'

/** The text of a config with its secrets redacted. */
interface RedactedConfigText {
  text: string
  /** The comments in which something is redacted. */
  comments: ShownComment[]
}

/** The text of a config without its secrets. Null when secrets cannot be found, as in broken YAML. */
export function redactedConfigText(text: string): string | null {
  return shown(text)?.text ?? null
}

/** The comments that `redactedConfigText` redacts, in order, without those inside of values that it redacts as a whole. */
export function commentsShown(text: string): ShownComment[] {
  return shown(text)?.comments ?? []
}

function shown(text: string): RedactedConfigText | null {
  const document = parseDocument(text)
  if (document.errors.length > 0) return null
  const scalars = cleanScalars(document)
  const secrets = new SecretWords(secretsAmong(scalars))
  const found = [...valueEdits(scalars, secrets, text), ...commentEdits(shownComments(text, secrets))]
  const comments: ShownComment[] = []
  let result = ''
  let last = 0
  for (const { from, to, replacement, comment } of found.toSorted((a, b) => a.from - b.from)) {
    // A comment may be inside of a value that is redacted as a whole.
    if (from < last) continue
    result += text.slice(last, from) + replacement
    last = to
    if (comment !== null) comments.push(comment)
  }
  return { text: result + text.slice(last), comments }
}

interface Edit {
  from: number
  to: number
  replacement: string
  comment: ShownComment | null
}

/** A scalar of the text with its redacted form, which holds for all aliases of the scalar. */
interface CleanScalar {
  node: Scalar
  clean: unknown
}

/** Finds secrets by the names of fields, by the form of values, and by the schema of the config file. */
function cleanScalars(document: Document): CleanScalar[] {
  const found = new Map<Scalar, unknown>()
  const walk = (node: unknown, clean: unknown): void => {
    if (isAlias(node)) return walk(node.resolve(document), clean)
    if (isMap(node)) {
      for (const { key, value } of node.items)
        walk(value, childOf(clean, isScalar(key) ? String(key.value) : String(key)))
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item, childOf(clean, String(index)))
    } else if (isScalar(node)) {
      // An anchor is visited once for each of its aliases; the strictest redaction wins.
      const isStrictest = clean !== node.value && found.get(node) !== HIDDEN
      if (!found.has(node) || isStrictest) found.set(node, clean)
    }
  }
  // A `key` of a config file is never the name of a resource.
  const plain = redact(document.toJS({ maxAliasCount: -1 }), EXPRESSION_KEYS)
  walk(document.contents, redactBySchema(configFile, plain, nodeOf))
  return [...found].map(([node, clean]) => ({ node, clean }))
}

function childOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function isHidden({ node, clean }: CleanScalar): boolean {
  return !Object.is(clean, node.value) && !isReference(node.value)
}

/** Whether the value only names an environment variable, which is not a secret. */
function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{\w+\}$/.test(value)
}

function secretsAmong(scalars: readonly CleanScalar[]): string[] {
  return scalars.flatMap((scalar) => (isHidden(scalar) ? [String(scalar.node.value).trim()] : []))
}

function valueEdits(scalars: readonly CleanScalar[], secrets: SecretWords, text: string): Edit[] {
  return scalars.flatMap((scalar) => {
    const { node, clean } = scalar
    const { value, range } = node
    if (range == null) return []
    const whole = typeof clean === 'string' ? clean : HIDDEN
    const replaced = isHidden(scalar) ? whole : typeof value === 'string' ? secrets.redact(value) : value
    if (Object.is(replaced, value)) return []
    const [from, to] = range
    // The rest of the text keeps its line numbers, because problems name lines of the file.
    const lines = text.slice(from, to).split('\n').length - 1
    return [{ from, to, replacement: JSON.stringify(replaced) + '\n'.repeat(lines), comment: null }]
  })
}

function commentEdits(comments: readonly ShownComment[]): Edit[] {
  return comments.flatMap((comment) => {
    const { from, comment: written, shown: replacement } = comment
    return replacement === written ? [] : [{ from, to: from + written.length, replacement, comment }]
  })
}

/** The text that replaces redacted values. */
export const HIDDEN = REDACTED
