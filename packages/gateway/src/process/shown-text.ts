import { isAlias, isMap, isScalar, isSeq, Lexer, parseDocument, type Document } from 'yaml'
import { redact } from '../admin/redact.ts'
import { isSecretName } from '../formats/secret-names.ts'

/** The text of a config as it may be shown: every secret in its place is hidden. Null where that cannot be told, as in broken YAML. */
export function shownText(text: string): string | null {
  const document = parseDocument(text)
  if (document.errors.length > 0) return null
  const edits = [...editsOf(document), ...commentEdits(text)].toSorted((a, b) => b.from - a.from)
  let shown = text
  let last = text.length
  for (const { from, to, replacement } of edits) {
    // An anchor is met once for each of its aliases.
    if (to > last) continue
    shown = shown.slice(0, from) + replacement + shown.slice(to)
    last = from
  }
  return shown
}

interface Edit {
  from: number
  to: number
  replacement: string
}

/** What `redact` hides in the values is hidden in the text that they came from. */
function editsOf(document: Document): Edit[] {
  const edits: Edit[] = []
  const walk = (node: unknown, clean: unknown): void => {
    if (isAlias(node)) return walk(node.resolve(document), clean)
    if (isMap(node)) {
      for (const { key, value } of node.items)
        walk(value, childOf(clean, isScalar(key) ? String(key.value) : String(key)))
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item, childOf(clean, String(index)))
    } else if (isScalar(node) && node.range != null && clean !== node.value && !isReference(node.value)) {
      const [from, to] = node.range
      edits.push({ from, to, replacement: JSON.stringify(clean ?? HIDDEN) })
    }
  }
  walk(document.contents, redact(document.toJS({ maxAliasCount: -1 }), NO_RESOURCES))
  return edits
}

/** A `key` of a config file is never the name of a resource. */
const NO_RESOURCES: readonly string[] = []

function childOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** A variable of the environment is a name, and not what it stands for. */
function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{\w+\}$/.test(value)
}

/** What was commented out may be as secret as what was not. */
function commentEdits(text: string): Edit[] {
  const edits: Edit[] = []
  let at = 0
  let isText = false
  for (const lexeme of new Lexer().lex(text)) {
    if (MARKS.has(lexeme)) {
      isText = lexeme === SCALAR
      continue
    }
    if (!isText && lexeme.startsWith('#')) {
      const shown = shownComment(lexeme)
      if (shown !== lexeme) edits.push({ from: at, to: at + lexeme.length, replacement: shown })
    }
    isText = false
    at += lexeme.length
  }
  return edits
}

/** The lexer says with these what comes next; they are not in the text. */
const SCALAR = '\u001f'
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR])

function shownComment(comment: string): string {
  const plain = comment.replaceAll(NAMED, (whole, start: string, name: string) =>
    isSecretName(name) ? `${start}${HIDDEN}` : whole,
  )
  return plain
    .split(/(\s+)/)
    .map((word) => String(redact(word)))
    .join('')
}

const NAMED = /(["']?([\w.-]+)["']?\s*[:=]\s*)\S.*/g
const HIDDEN = '<redacted>'
